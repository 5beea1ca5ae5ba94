import type { FullScreen } from "./fullscreen";
import { qualities } from "./QualityMenu";
import { scalings } from "./ScalingButtons";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { Radios } from "../ui/Radios";
import type { Scaling } from "../viewer/connection";
import type { Quality } from "../viewer/quality";

interface MoreMenuProps {
  /** How a desktop's picture is sized; null for other views. */
  size: {
    scaling: Scaling;
    onScaling: (scaling: Scaling) => void;
    driving: boolean;
    /** The screen size cannot be changed. */
    fixed: boolean;
    crop: boolean;
    onCrop: (crop: boolean) => void;
    /** Whether there is a browser window to show alone. */
    croppable: boolean;
  } | null;
  /** Null if there is no picture. */
  quality: Quality | null;
  onQuality: (quality: Quality) => void;
  fullScreen: FullScreen;
  /** Null if not allowed. */
  onEnd: (() => void) | null;
}

/** On a phone: a menu with everything that a wide window shows as buttons. */
export function MoreMenu({ size, quality, onQuality, fullScreen, onEnd }: MoreMenuProps) {
  return (
    <Menu icon="more" label="More" text="More">
      {(close) => (
        <>
          <button
            type="button"
            className="quiet"
            onClick={() => {
              close();
              fullScreen.toggle();
            }}
          >
            <Icon name="full" /> Full screen
          </button>
          {size && (
            <>
              <Radios
                legend="Size of the picture"
                chosen={size.scaling}
                onChoose={size.onScaling}
                choices={scalings
                  .filter(({ scaling }) => scaling !== "remote" || !size.fixed)
                  .map(({ scaling, label }) => ({
                    value: scaling,
                    text: label,
                    hint: scaling === "remote" && !size.driving ? "Take control first" : undefined,
                    disabled: scaling === "remote" && !size.driving,
                  }))}
              />
              <label className="check">
                <input
                  type="checkbox"
                  checked={size.crop}
                  disabled={!size.croppable}
                  onChange={(event) => size.onCrop(event.target.checked)}
                />
                Show only the browser window
              </label>
            </>
          )}
          {quality !== null && (
            <Radios
              legend="Picture quality"
              chosen={quality}
              onChoose={onQuality}
              choices={qualities.map(({ quality, text, hint }) => ({ value: quality, text, hint }))}
            />
          )}
          {onEnd && (
            <button
              type="button"
              className="quiet danger-text"
              onClick={() => {
                close();
                onEnd();
              }}
            >
              <Icon name="end" /> End session
            </button>
          )}
        </>
      )}
    </Menu>
  );
}

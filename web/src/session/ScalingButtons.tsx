import type { Scaling } from "../viewer/connection";
import { IconButton } from "../ui/IconButton";
import type { IconName } from "../ui/Icon";

export const scalings: { scaling: Scaling; icon: IconName; text: string; label: string }[] = [
  { scaling: "fit", icon: "fit", text: "Fit", label: "Fit the picture to the window" },
  { scaling: "actual", icon: "actual", text: "1:1", label: "Actual size, one to one" },
  { scaling: "remote", icon: "resize", text: "Resize", label: "Resize the session's screen to the window" },
];

interface ScalingButtonsProps {
  /** Null while another setting decides. */
  scaling: Scaling | null;
  driving: boolean;
  /** The screen size cannot be changed. */
  fixed: boolean;
  onChange: (scaling: Scaling) => void;
}

export function ScalingButtons({ scaling, driving, fixed, onChange }: ScalingButtonsProps) {
  return (
    <div className="segments" role="group" aria-label="Size of the picture">
      {scalings.map((choice) => {
        if (fixed && choice.scaling === "remote") return null;
        const blocked = choice.scaling === "remote" && !driving;
        return (
          <IconButton
            key={choice.scaling}
            icon={choice.icon}
            text={choice.text}
            label={blocked ? `${choice.label} (take control first)` : choice.label}
            aria-pressed={scaling === choice.scaling}
            disabled={blocked}
            onClick={() => onChange(choice.scaling)}
          />
        );
      })}
    </div>
  );
}

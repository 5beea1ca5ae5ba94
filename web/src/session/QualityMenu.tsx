import { useId } from "react";
import { Menu } from "../ui/Menu";

/** noVNC's JPEG quality. Higher costs much more than it shows: still areas are sharpened anyway. */
export const qualities = [
  { level: 2, text: "Light", hint: "for slow connections" },
  { level: 6, text: "Balanced", hint: "the usual" },
  { level: 8, text: "Sharp", hint: "for fast networks" },
] as const;

interface QualityMenuProps {
  quality: number;
  onChange: (quality: number) => void;
}

export function QualityMenu({ quality, onChange }: QualityMenuProps) {
  const name = useId();
  return (
    <Menu icon="quality" label="Picture quality">
      {() => (
        <fieldset className="radios">
          <legend>Picture quality</legend>
          {qualities.map(({ level, text, hint }) => (
            <label key={level}>
              <input type="radio" name={name} checked={quality === level} onChange={() => onChange(level)} />
              {text} <span className="muted">{hint}</span>
            </label>
          ))}
        </fieldset>
      )}
    </Menu>
  );
}

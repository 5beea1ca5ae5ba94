import { useId } from "react";
import { Menu } from "../ui/Menu";
import type { Quality } from "../viewer/quality";

const choices: { quality: Quality; text: string; hint: string }[] = [
  { quality: "low", text: "Low", hint: "for slow connections" },
  { quality: "balanced", text: "Balanced", hint: "the usual" },
  { quality: "sharp", text: "Sharp", hint: "for fast networks" },
];

interface QualityMenuProps {
  quality: Quality;
  onChange: (quality: Quality) => void;
}

export function QualityMenu({ quality, onChange }: QualityMenuProps) {
  const name = useId();
  return (
    <Menu icon="quality" label="Picture quality">
      {() => (
        <fieldset className="radios">
          <legend>Picture quality</legend>
          {choices.map((choice) => (
            <label key={choice.quality}>
              <input
                type="radio"
                name={name}
                checked={quality === choice.quality}
                onChange={() => onChange(choice.quality)}
              />
              {choice.text} <span className="muted">{choice.hint}</span>
            </label>
          ))}
        </fieldset>
      )}
    </Menu>
  );
}

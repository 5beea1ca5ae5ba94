import { useId } from "react";

interface RadiosProps<T extends string> {
  legend: string;
  chosen: T;
  onChoose: (value: T) => void;
  choices: { value: T; text: string; hint?: string | undefined; disabled?: boolean }[];
}

/** A choice of one option, with labels. */
export function Radios<T extends string>({ legend, chosen, onChoose, choices }: RadiosProps<T>) {
  const name = useId();
  return (
    <fieldset className="radios">
      <legend>{legend}</legend>
      {choices.map(({ value, text, hint, disabled = false }) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            checked={chosen === value}
            disabled={disabled}
            onChange={() => onChoose(value)}
          />
          {text} {hint && <span className="muted">{hint}</span>}
        </label>
      ))}
    </fieldset>
  );
}

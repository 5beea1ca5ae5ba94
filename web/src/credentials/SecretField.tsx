import { useId } from "react";
import type { CredentialType } from "../api/wire";
import { isLong, types } from "./state";

interface SecretFieldProps {
  type: CredentialType;
  label: string;
  autoFocus?: boolean;
}

/** Takes a secret without showing it. */
export function SecretField({ type, label, autoFocus = false }: SecretFieldProps) {
  const hint = useId();
  const shared = {
    name: "value",
    required: true,
    minLength: 4,
    maxLength: 65_536,
    autoComplete: "off",
    spellCheck: false,
    "aria-describedby": hint,
    "data-autofocus": autoFocus || undefined,
  };
  return (
    <div className="field">
      <label>
        {label}
        {isLong(type) ? (
          <textarea {...shared} className="secret" rows={5} />
        ) : (
          // Password managers would offer to save it as a login for this page.
          <input {...shared} type="text" className="secret" data-1p-ignore data-lpignore="true" />
        )}
      </label>
      <span id={hint} className="muted hint">
        {types.find((each) => each.type === type)?.hint}
      </span>
    </div>
  );
}

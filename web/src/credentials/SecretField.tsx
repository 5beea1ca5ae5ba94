import type { CredentialType } from "../api/wire";
import { isLong, types } from "./state";

interface SecretFieldProps {
  type: CredentialType;
  label: string;
  autoFocus?: boolean;
}

/** Takes a secret without showing it. */
export function SecretField({ type, label, autoFocus = false }: SecretFieldProps) {
  const shared = {
    name: "value",
    required: true,
    minLength: 4,
    maxLength: 65_536,
    autoComplete: "off",
    spellCheck: false,
    "data-autofocus": autoFocus || undefined,
  };
  const hint = types.find((each) => each.type === type)?.hint;
  return (
    <label>
      {label}
      {isLong(type) ? (
        <textarea {...shared} className="secret" rows={5} />
      ) : (
        // Password managers would offer to save it as a login for this page.
        <input {...shared} type="text" className="secret" data-1p-ignore data-lpignore="true" />
      )}
      <span className="muted hint">{hint}</span>
    </label>
  );
}

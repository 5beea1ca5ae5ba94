import { useEffect, useRef, type FormEvent } from "react";
import { Icon } from "../ui/Icon";
import { inputOf, type Draft, type Field } from "./form";
import { SchemaField } from "./SchemaField";

interface PackFormProps {
  main: Field[];
  options: Field[];
  draft: Draft;
  errors: Record<string, string>;
  working: boolean;
  onDraft: (draft: Draft) => void;
  onErrors: (errors: Record<string, string>) => void;
  onRun: (input: Record<string, unknown>) => void;
  /** Null while nothing can be cancelled. */
  onCancel: (() => void) | null;
}

/** A form made from the schema of a pack's input. */
export function PackForm(props: PackFormProps) {
  const { main, options, draft, errors, working, onDraft, onErrors, onRun, onCancel } = props;
  const form = useRef<HTMLFormElement>(null);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (working) return;
    const { input, errors } = inputOf([...main, ...options], draft);
    onErrors(errors);
    if (Object.keys(errors).length === 0) onRun(input);
  };
  // The first field with an error gets the focus.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);

  const show = (field: Field) => (
    <SchemaField
      key={field.name}
      field={field}
      value={draft[field.name]}
      error={errors[field.name]}
      onChange={(value) => {
        const { [field.name]: _, ...rest } = draft;
        onDraft(value === undefined ? rest : { ...rest, [field.name]: value });
        if (errors[field.name] !== undefined) {
          const { [field.name]: _gone, ...others } = errors;
          onErrors(others);
        }
      }}
    />
  );
  const optionUsed = options.some(({ name }) => draft[name] !== undefined || errors[name] !== undefined);
  return (
    <form ref={form} className="pack-form" onSubmit={submit} noValidate>
      {main.map(show)}
      {options.length > 0 && (
        <details className="pack-options" open={optionUsed || undefined}>
          <summary>More options</summary>
          {options.map(show)}
        </details>
      )}
      <footer>
        <button type="submit" className="primary" disabled={working}>
          {working ? <span className="spinner" aria-hidden="true" /> : <Icon name="play" />}
          {working ? "Running…" : "Run"}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </footer>
    </form>
  );
}

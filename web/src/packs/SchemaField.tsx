import { useId, useRef } from "react";
import { useSessions } from "../sessions/provider";
import { isOver } from "../sessions/state";
import { nameOf } from "../sessions/name";
import { IconButton } from "../ui/IconButton";
import { Icon } from "../ui/Icon";
import { Prose } from "../docs/Prose";
import { shownDefault, type Draft, type Field } from "./form";

type Value = Draft[string];

interface SchemaFieldProps {
  field: Field;
  value: Value | undefined;
  error: string | undefined;
  onChange: (value: Value | undefined) => void;
}

/** One field of a pack's input. */
export function SchemaField({ field, value, error, onChange }: SchemaFieldProps) {
  const id = useId();
  const [doc, trouble] = [`${id}-doc`, `${id}-error`];
  const described = [field.doc && doc, error && trouble].filter(Boolean).join(" ");
  const control: Control = {
    id,
    name: field.name,
    "aria-required": field.required,
    "aria-invalid": error !== undefined,
    ...(described ? { "aria-describedby": described } : {}),
  };
  const name = (
    <>
      <code>{field.name}</code>
      {field.required && <span className="required">required</span>}
    </>
  );
  return (
    <div className="pack-field" data-kind={field.kind} data-invalid={error !== undefined}>
      {field.kind === "switch" ? (
        <label className="pack-switch">
          <input
            {...control}
            type="checkbox"
            checked={typeof value === "boolean" ? value : field.default === true}
            onChange={({ target }) => onChange(target.checked)}
          />
          <span>{name}</span>
        </label>
      ) : (
        <>
          <label htmlFor={id} className="pack-label">
            {name}
          </label>
          <Input field={field} value={value} control={control} onChange={onChange} />
        </>
      )}
      {error !== undefined && (
        <p className="field-error" id={trouble}>
          {error}
        </p>
      )}
      {field.doc && (
        <div className="field-doc muted" id={doc}>
          <Prose text={field.doc} />
        </div>
      )}
    </div>
  );
}

interface Control {
  id: string;
  name: string;
  "aria-required": boolean;
  "aria-invalid": boolean;
  "aria-describedby"?: string;
}

interface InputProps extends Omit<SchemaFieldProps, "error"> {
  control: Control;
}

function Input({ field, value, control, onChange }: InputProps) {
  const text = typeof value === "string" ? value : "";
  const usual = shownDefault(field);
  const common = {
    ...control,
    autoComplete: "off",
    spellCheck: false,
    value: text,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  switch (field.kind) {
    case "choice":
      return (
        <select {...control} value={text} onChange={({ target }) => onChange(target.value || undefined)}>
          <option value="">{usual === "" ? "–" : `Default: ${usual}`}</option>
          {field.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      );
    case "session":
      return <SessionSelect control={control} value={text} onChange={onChange} />;
    case "list":
      return <List field={field} value={Array.isArray(value) ? value : []} control={control} onChange={onChange} />;
    case "number":
      return <input {...common} inputMode={field.whole ? "numeric" : "decimal"} placeholder={usual} />;
    case "secret":
      return <input {...common} type="password" autoComplete="new-password" />;
    case "long":
    case "mixed":
      return <textarea {...common} className="code" rows={rowsOf(text, 3)} placeholder={usual} />;
    case "json":
      return <textarea {...common} className="code" rows={rowsOf(text, 3)} placeholder={usual || "JSON"} />;
    default:
      return <input {...common} type="text" placeholder={usual} />;
  }
}

/** Enough lines for the text, within reason. */
function rowsOf(text: string, least: number): number {
  return Math.min(16, Math.max(least, text.split("\n").length + 1));
}

interface SessionSelectProps {
  control: Control;
  value: string;
  onChange: (value: string | undefined) => void;
}

/** A running session. One that has ended stays chosen, and says so. */
function SessionSelect({ control, value, onChange }: SessionSelectProps) {
  const { list } = useSessions();
  const running = (list ?? []).filter((session) => !isOver(session)).toReversed();
  const known = value === "" || running.some(({ id }) => id === value);
  return (
    <select {...control} value={value} onChange={({ target }) => onChange(target.value || undefined)}>
      <option value="">{running.length === 0 ? "No session is running" : "No session chosen"}</option>
      {!known && <option value={value}>{value} (not running)</option>}
      {running.map((session) => (
        <option key={session.id} value={session.id}>
          {nameOf(session) === session.id ? session.id : `${nameOf(session)} · ${session.id}`}
        </option>
      ))}
    </select>
  );
}

interface ListProps {
  field: Field;
  value: string[];
  control: Control;
  onChange: (value: string[] | undefined) => void;
}

/** A list of texts. Enter goes to the next one, and Backspace in an empty one removes it. */
function List({ field, value, control, onChange }: ListProps) {
  const root = useRef<HTMLDivElement>(null);
  const items = value.length === 0 ? [""] : value;
  const focus = (index: number) =>
    // After the new item is there.
    window.setTimeout(() => root.current?.querySelectorAll("input")[index]?.focus());
  const change = (items: string[]) => onChange(items.every((item) => item === "") && items.length < 2 ? undefined : items);
  const remove = (index: number) => {
    change(items.filter((_, each) => each !== index));
    focus(Math.max(0, index - 1));
  };
  const add = (index: number) => {
    change(items.toSpliced(index, 0, ""));
    focus(index);
  };
  return (
    <div className="pack-list" ref={root}>
      {items.map((item, index) => (
        <div key={index} className="pack-list-item">
          <input
            {...control}
            id={index === 0 ? control.id : `${control.id}-${index}`}
            aria-label={index === 0 ? undefined : `${field.name} ${index + 1}`}
            type="text"
            autoComplete="off"
            spellCheck={false}
            value={item}
            onChange={({ target }) => change(items.with(index, target.value))}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.nativeEvent.isComposing) {
                event.preventDefault();
                add(index + 1);
              } else if (event.key === "Backspace" && item === "" && items.length > 1) {
                event.preventDefault();
                remove(index);
              }
            }}
          />
          {items.length > 1 && (
            <IconButton
              icon="close"
              label={`Remove ${field.name} ${index + 1}`}
              className="quiet"
              onClick={() => remove(index)}
            />
          )}
        </div>
      ))}
      <button type="button" className="quiet pack-list-add" onClick={() => add(items.length)}>
        <Icon name="plus" /> Add an item
      </button>
    </div>
  );
}

import { useEffect, useState } from "react";
import { useSmall } from "../ui/media";
import { everything, kinds, ranges, severities, type Filter, type Range } from "./filter";

interface AuditFiltersProps {
  filter: Filter;
  onChange: (filter: Filter) => void;
}

/** Which rows to show. On a phone, the fields are folded until they are used. */
export function AuditFilters(props: AuditFiltersProps) {
  const used = Object.keys(everything).filter((name) => {
    const field = name as keyof Filter;
    return props.filter[field] !== everything[field];
  }).length;
  if (!useSmall()) return <Fields {...props} />;
  return (
    <details className="audit-folded">
      <summary>{used > 0 ? `Filter (${used})` : "Filter"}</summary>
      <Fields {...props} />
    </details>
  );
}

/** Choices apply at once, texts with Enter or when the field is left. */
function Fields({ filter, onChange }: AuditFiltersProps) {
  const set = (change: Partial<Filter>) => onChange({ ...filter, ...change });
  const known = kinds.some(({ value }) => value === filter.kind);
  return (
    <form className="audit-filters" role="search" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <label>
        Event
        <select value={filter.kind} onChange={(event) => set({ kind: event.target.value })}>
          {!known && <option value={filter.kind}>{filter.kind}</option>}
          {kinds.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Severity
        <select value={filter.severity} onChange={(event) => set({ severity: event.target.value })}>
          {severities.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Time
        <select value={filter.range} onChange={(event) => set({ range: event.target.value as Range })}>
          {ranges.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <Text label="Who" placeholder="Subject" value={filter.who} onChange={(who) => set({ who })} />
      <Text label="Session" placeholder="Id" value={filter.session} onChange={(session) => set({ session })} />
      {filter.range === "custom" && (
        <>
          <Text label="From" type="datetime-local" value={filter.from} onChange={(from) => set({ from })} />
          <Text label="To" type="datetime-local" value={filter.to} onChange={(to) => set({ to })} />
        </>
      )}
    </form>
  );
}

interface TextProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: string;
  placeholder?: string;
}

function Text({ label, value, onChange, type = "search", placeholder = "" }: TextProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const apply = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <label>
      {label}
      <input
        type={type}
        value={text}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onBlur={apply}
        onKeyDown={(event) => event.key === "Enter" && apply()}
      />
    </label>
  );
}

import { boundsOf, nameOf, objectBelow, resolve, typeOf, type ApiDocument, type Schema } from "./document";
import { Prose } from "./Prose";

/** The maximum depth of nested objects; the document has no deeper ones. */
const deepest = 4;

interface FieldsProps {
  document: ApiDocument;
  schema: Schema;
  depth?: number;
}

/** The properties of an object. */
export function Fields({ document, schema, depth = 0 }: FieldsProps) {
  const required = new Set(schema.required);
  const properties = Object.entries(schema.properties ?? {});
  const ordered = [
    ...properties.filter(([name]) => required.has(name)),
    ...properties.filter(([name]) => !required.has(name)),
  ];
  return (
    <ul className="fields">
      {ordered.map(([name, field]) => (
        <Field key={name} document={document} name={name} schema={field} required={required.has(name)} depth={depth} />
      ))}
    </ul>
  );
}

interface FieldProps extends FieldsProps {
  name: string;
  required: boolean;
}

/** One property or parameter. */
export function Field({ document, name, schema, required, depth = 0 }: FieldProps) {
  const below = depth < deepest ? objectBelow(document, schema) : null;
  const doc = schema.description ?? resolve(document, schema).description;
  const bounds = boundsOf(document, schema);
  return (
    <li>
      <p className="field-head">
        <code className="field-name">{name}</code> <span className="field-type">{typeOf(document, schema)}</span>
        {required && <span className="required">required</span>}
        {bounds && <span className="muted">{bounds}</span>}
      </p>
      {doc && (
        <div className="field-doc">
          <Prose text={doc} />
        </div>
      )}
      {below && (
        <details>
          <summary>{nameOf(schema) ?? nameOf(resolve(document, schema).items ?? {}) ?? "Fields"}</summary>
          <Fields document={document} schema={below} depth={depth + 1} />
        </details>
      )}
    </li>
  );
}

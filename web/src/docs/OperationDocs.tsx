import { prefix } from "../prefix";
import { CopyButton } from "../ui/CopyButton";
import { curlFor, objectBelow, typeOf, type ApiDocument, type Operation, type Parameter } from "./document";
import { Field, Fields } from "./Fields";
import { Prose } from "./Prose";

interface OperationDocsProps {
  document: ApiDocument;
  operation: Operation;
}

/** One operation: its description, input and output, and a command to try it. */
export function OperationDocs({ document, operation }: OperationDocsProps) {
  const { operationId, method, path, description, parameters, requestBody } = operation;
  const [, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const fields = body?.schema ? objectBelow(document, body.schema) : null;
  const curl = curlFor(document, operation, prefix.href.replace(/\/$/, ""));
  const socket = "101" in operation.responses;
  return (
    <article id={operationId} className="operation" tabIndex={-1}>
      <h3>
        <a href={`#${operationId}`}>{operationId}</a>
      </h3>
      <p className="call">
        <span className={`method ${method.toLowerCase()}`}>{socket ? "WS" : method}</span> <code>{path}</code>
      </p>
      <div className="operation-doc">
        <Prose text={description} />
      </div>
      <Access operation={operation} />
      <Parameters document={document} title="Path" parameters={parameters.filter((one) => one.in === "path")} />
      <Parameters document={document} title="Query" parameters={parameters.filter((one) => one.in === "query")} />
      {body && (
        <section>
          <h4>Body{requestBody?.required === false && ", optional"}</h4>
          {fields ? <Fields document={document} schema={fields} /> : <p className="muted">Bytes.</p>}
        </section>
      )}
      <Answer document={document} operation={operation} />
      {!socket && (
        <div className="example">
          <pre>{curl}</pre>
          <CopyButton text={curl} what="command" compact />
        </div>
      )}
    </article>
  );
}

function Access({ operation }: { operation: Operation }) {
  const scope = operation["x-scope"];
  const ticket = operation.security.some((scheme) => "ticket" in scheme);
  let text = "No token needed.";
  if (scope) text = `Needs a token with the scope ${scope}.`;
  else if (ticket) text = "Needs a token, or a ticket for the session.";
  return <p className="muted">{text}</p>;
}

interface ParametersProps {
  document: ApiDocument;
  title: string;
  parameters: Parameter[];
}

function Parameters({ document, title, parameters }: ParametersProps) {
  if (parameters.length === 0) return null;
  return (
    <section>
      <h4>{title}</h4>
      <ul className="fields">
        {parameters.map(({ name, schema, required, description }) => (
          <Field
            key={name}
            document={document}
            name={name}
            schema={description ? { ...schema, description } : schema}
            required={required ?? false}
          />
        ))}
      </ul>
    </section>
  );
}

/** The successful response. Errors have one format and are described once. */
function Answer({ document, operation }: OperationDocsProps) {
  const [status, answer] = Object.entries(operation.responses).find(([code]) => /^[123]/.test(code)) ?? [];
  if (!status || !answer) return null;
  const types = Object.keys(answer.content ?? {});
  const schema = types[0] === "application/json" ? answer.content?.[types[0]]?.schema : undefined;
  const fields = schema ? objectBelow(document, schema) : null;
  return (
    <section>
      <h4>
        Answer <code>{status}</code> {schema ? typeOf(document, schema) : types.join(", ")}
      </h4>
      {fields && (
        <details>
          <summary>Fields</summary>
          <Fields document={document} schema={fields} />
        </details>
      )}
    </section>
  );
}

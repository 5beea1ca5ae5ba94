/** Text of the API description: paragraphs, lists and `code`. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("\n\n").map((block, index) =>
        block.startsWith("- ") ? (
          <ul key={index}>
            {block.split("\n").map((line) => (
              <li key={line}>
                <Inline text={line.replace(/^- /, "")} />
              </li>
            ))}
          </ul>
        ) : (
          <p key={index}>
            <Inline text={block} />
          </p>
        ),
      )}
    </>
  );
}

function Inline({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}

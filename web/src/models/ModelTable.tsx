import { useMemo, useState } from "react";
import type { Model, ModelList } from "../api/wire";
import { CopyButton } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";
import { useSmall } from "../ui/media";
import { NoMatch } from "../ui/Nothing";
import { price, tokens } from "./metrics";
import { sortBy, type Order } from "./sort";
import { SortChoice, SortHead, type SortColumn } from "./SortHead";
import { providersOf, searchModels, titleOf } from "./state";

type Column = "id" | "context" | "output" | "input_price" | "output_price";

const columns: SortColumn<Column>[] = [
  { column: "id", text: "Model", down: false },
  { column: "context", text: "Context", down: true, number: true },
  { column: "output", text: "Max output", down: true, number: true },
  { column: "input_price", text: "Price in", down: false, number: true },
  { column: "output_price", text: "Price out", down: false, number: true },
];

const values: Record<Column, (model: Model) => string | number | null | undefined> = {
  id: ({ id }) => id,
  context: (model) => model.context_tokens,
  output: (model) => model.max_output_tokens,
  input_price: (model) => model.input_usd_per_mtok,
  output_price: (model) => model.output_usd_per_mtok,
};

/** How many are shown at first; OpenRouter alone has hundreds. */
const first = { desk: 25, phone: 10 };

/** The models that can be called, with a search; on a phone, one to a card. */
export function ModelTable({ list }: { list: ModelList }) {
  const [wanted, setWanted] = useState("");
  const [provider, setProvider] = useState("");
  const [order, setOrder] = useState<Order<Column> | null>(null);
  const page = useSmall() ? first.phone : first.desk;
  const [pages, setPages] = useState(1);
  const most = page * pages;

  const providers = useMemo(() => providersOf(list.models), [list]);
  const found = useMemo(() => {
    const found = searchModels(list.models, wanted, providers.includes(provider) ? provider : "");
    return order === null ? found : sortBy(found, values[order.by], order.down);
  }, [list, wanted, provider, providers, order]);
  const clear = () => (setWanted(""), setProvider(""));
  // The order of the providers is none of the columns'.
  const shownOrder = order ?? { by: "" as Column, down: false };

  return (
    <>
      <div className="model-filters" role="search" aria-label="Models">
        <div className="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder={`Search ${list.count} models`}
            aria-label="Search models"
            autoComplete="off"
            spellCheck={false}
            value={wanted}
            onChange={({ target }) => (setWanted(target.value), setPages(1))}
          />
        </div>
        <select
          aria-label="Provider"
          value={providers.includes(provider) ? provider : ""}
          onChange={({ target }) => (setProvider(target.value), setPages(1))}
        >
          <option value="">All providers</option>
          {providers.map((name) => (
            <option key={name} value={name}>
              {titleOf(name)}
            </option>
          ))}
        </select>
        <SortChoice columns={columns} order={order ?? { by: "id", down: false }} onOrder={setOrder} />
      </div>
      <p className="off-screen" role="status">
        {(wanted !== "" || provider !== "") && `${found.length} of ${list.count} models match`}
      </p>
      {found.length === 0 ? (
        <NoMatch title="No model matches" onClear={clear} />
      ) : (
        <table className="table models" aria-label="Models">
          <SortHead columns={columns} order={shownOrder} onOrder={setOrder} />
          <tbody>
            {found.slice(0, most).map((model) => (
              <Row key={model.id} model={model} list={list} />
            ))}
          </tbody>
        </table>
      )}
      {found.length > most && (
        <p className="more-artifacts">
          <button type="button" onClick={() => setPages(pages + 4)}>
            Show more of {found.length}
          </button>
        </p>
      )}
    </>
  );
}

function Row({ model, list }: { model: Model; list: ModelList }) {
  const place = list.fallbacks.indexOf(model.id);
  return (
    <tr>
      <th scope="row">
        <span className="model-id">
          <code>{model.id}</code>
          <CopyButton text={model.id} what={`id of ${model.id}`} compact />
          {model.id === list.default_model && (
            <span className="mark" data-tone="calm">
              Default
            </span>
          )}
          {place >= 0 && <span className="mark">Fallback {list.fallbacks.length > 1 ? place + 1 : ""}</span>}
        </span>
      </th>
      <td data-label="Context" data-number>
        {known(model.context_tokens)}
      </td>
      <td data-label="Max output" data-number>
        {known(model.max_output_tokens)}
      </td>
      <td data-label="Price in" data-number>
        {price(model.input_usd_per_mtok)}
      </td>
      <td data-label="Price out" data-number>
        {price(model.output_usd_per_mtok)}
      </td>
    </tr>
  );
}

function known(count: number | null | undefined): string {
  return count == null ? "–" : tokens(count);
}

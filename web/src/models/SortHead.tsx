import { Icon } from "../ui/Icon";
import { nextOrder, type Order } from "./sort";

export interface SortColumn<Column extends string> {
  column: Column;
  text: string;
  /** Whether the largest is first after the first click. */
  down: boolean;
  /** Whether it has numbers. */
  number?: boolean;
}

interface SortProps<Column extends string> {
  columns: SortColumn<Column>[];
  order: Order<Column>;
  onOrder: (order: Order<Column>) => void;
}

/** The head of a table: a click on a column sorts by it. */
export function SortHead<Column extends string>({ columns, order, onOrder }: SortProps<Column>) {
  return (
    <thead>
      <tr>
        {columns.map(({ column, text, down, number = false }) => {
          const current = order.by === column;
          return (
            <th
              key={column}
              scope="col"
              data-number={number}
              aria-sort={current ? (order.down ? "descending" : "ascending") : undefined}
            >
              <button type="button" className="quiet sort" onClick={() => onOrder(nextOrder(order, column, down))}>
                {text}
                <Icon name="down" />
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** The same where the table has no head. */
export function SortChoice<Column extends string>({ columns, order, onOrder }: SortProps<Column>) {
  return (
    <select
      className="sort-choice"
      aria-label="Sort by"
      value={order.by}
      onChange={({ target }) => {
        const chosen = columns.find(({ column }) => column === target.value);
        if (chosen) onOrder({ by: chosen.column, down: chosen.down });
      }}
    >
      {columns.map(({ column, text }) => (
        <option key={column} value={column}>
          By {text.toLowerCase()}
        </option>
      ))}
    </select>
  );
}

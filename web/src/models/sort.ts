/** A column to sort by, and the direction. */
export interface Order<Column extends string> {
  by: Column;
  down: boolean;
}

/** The order after a click on a column: the other direction if it is sorted by it already. */
export function nextOrder<Column extends string>(
  { by, down }: Order<Column>,
  clicked: Column,
  firstDown: boolean,
): Order<Column> {
  return { by: clicked, down: by === clicked ? !down : firstDown };
}

/** Sorts by a number or a text; what has none is last in both directions. Equal ones keep their order. */
export function sortBy<Item>(
  items: Item[],
  valueOf: (item: Item) => string | number | null | undefined,
  down: boolean,
): Item[] {
  return items.toSorted((first, second) => {
    const [a, b] = [valueOf(first), valueOf(second)];
    if (a == null || b == null) return Number(a == null) - Number(b == null);
    const upwards = typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b);
    return down ? -upwards : upwards;
  });
}

/** Numbers of models as short texts. */

/** Tokens: `950`, `12.3k`, `1.05M`. */
export function tokens(count: number): string {
  // What would round to 1000k is 1M.
  const units = [
    { size: 1e9, from: 999_500_000, unit: "B" },
    { size: 1e6, from: 999_500, unit: "M" },
    { size: 1e3, from: 1000, unit: "k" },
  ];
  const found = units.find(({ from }) => count >= from);
  if (found === undefined) return String(Math.round(count));
  return Number((count / found.size).toPrecision(3)) + found.unit;
}

/** Dollars: `$0`, `$0.42`, `$1,234.50`; small amounts with two digits that count: `$0.0012`. */
export function dollars(amount: number): string {
  if (amount === 0) return "$0";
  if (amount < 0.000_001) return "under $0.000001";
  return money(amount, amount < 0.0995 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 });
}

/** A price for a million tokens, with all its digits: `$2.50`, `$0.075`, `free`; a dash if it is not known. */
export function price(amount: number | null | undefined): string {
  if (amount == null) return "–";
  return amount === 0 ? "free" : money(amount, { maximumFractionDigits: 4 });
}

function money(amount: number, digits: Intl.NumberFormatOptions): string {
  const plain = amount.toLocaleString("en-US", digits);
  // Cents have two digits.
  const [whole, cents] = plain.split(".");
  return cents === undefined ? `$${whole}` : `$${whole}.${cents.padEnd(2, "0")}`;
}

/** A share of one: `98.5%`. It is 100% only if nothing is missing. */
export function rate(share: number): string {
  const tenths = Math.floor(share * 1000 + 1e-9);
  return `${(share > 0 ? Math.max(tenths, 1) : 0) / 10}%`;
}

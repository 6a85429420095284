// Differences between two systems, from the resource `pairs`.
import type { PairsResource } from "./shape";

/** The difference between two systems by a measure on a dataset; null if undefined or not tested. */
export interface Difference {
  value: number | null;
  low: number | null;
  high: number | null;
  p: number | null;
  /** P-value after the correction for all pairs on all datasets. */
  corrected: number | null;
  reason: string | null;
}

/** Find the difference between systems `a` and `b`; null if they were not scored alike on the dataset. */
export function findDifference(
  resource: PairsResource,
  measure: string,
  dataset: number,
  a: number,
  b: number,
): Difference | null {
  const table = resource.tables.find(
    (item) =>
      item.measure === measure && item.dataset === dataset && item.systems.includes(a) && item.systems.includes(b),
  );
  if (!table || a === b) return null;
  const { systems } = table;
  const [i, j] = [systems.indexOf(a), systems.indexOf(b)].sort((x, y) => x - y),
    index = i * systems.length - (i * (i + 1)) / 2 + j - i - 1;
  const isReversed = systems.indexOf(a) > systems.indexOf(b);
  const negate = (value: number | null) => (value === null || !isReversed ? value : -value);
  const [low, high] = [negate(table.low[index]), negate(table.high[index])];
  return {
    value: negate(table.difference[index]),
    low: isReversed ? high : low,
    high: isReversed ? low : high,
    p: table.p[index] ?? null,
    corrected: table.corrected[index] ?? null,
    reason: table.reasons[index] ?? null,
  };
}

/** Format a p-value with two significant digits. */
export const formatP = (p: number): string => (p < 0.0001 ? "< 0.0001" : String(Number(p.toPrecision(2))));

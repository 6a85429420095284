// A confidence interval in a table cell.

/** An interval as a whisker, on a scale from 0 to 1; a single element, since a table may contain thousands. */
export function Whisker({ interval: [low, value, high] }: { interval: readonly [number, number, number] }) {
  const width = high - low,
    position = width < 1 ? low / (1 - width) : 0;
  const formatShare = (fraction: number) => `${(100 * fraction).toFixed(1)}%`;
  return (
    <span
      class="whisker"
      style={[
        `background-size:2px 8px,${formatShare(width)} 1px`,
        `background-position:${formatShare(value)} 0,${formatShare(position)} 4px`,
      ].join(";")}
    />
  );
}

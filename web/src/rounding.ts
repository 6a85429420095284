// Rounding of numbers as the commands print them, so that a page and a command never differ in the last digit.

/**
 * Format a number with a fixed number of digits. An exact tie goes to the even digit, as in Python: 96.25 becomes 96.2.
 * `toFixed` would return 96.3. A double is a tie only if it is an odd multiple of 2 to the power of -(digits + 1).
 */
export function formatFixed(value: number, digits: number): string {
  const size = Math.abs(value);
  if ((size * 2 ** (digits + 1)) % 2 !== 1) return value.toFixed(digits);
  const lower = Math.floor(size * 10 ** digits);
  const even = lower % 2 ? lower + 1 : lower;
  return `${value < 0 ? "-" : ""}${(even / 10 ** digits).toFixed(digits)}`;
}

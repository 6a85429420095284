// Plain titles of measures, with their codes.

import { leaderboardState } from "./components";

/** Get the plain title of a measure, such as “Linking F1 (in-KB)”. */
export const measureTitle = (name: string): string => leaderboardState.value!.measure_titles[name] ?? name;

/** Get the plain title of a measure within a sentence. */
export function measurePhrase(name: string): string {
  const title = measureTitle(name);
  return /^[A-Z][a-z]/.test(title) ? title[0].toLowerCase() + title.slice(1) : title;
}

/** The plain title of a measure, with its code in small type. */
export function MeasureLabel({ name }: { name: string }) {
  return (
    <>
      {measureTitle(name)} {measureTitle(name) !== name && <small class="code">{name}</small>}
    </>
  );
}

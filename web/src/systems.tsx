// What the submitters of systems state about them.

import { leaderboardState } from "./components";

/** Descriptions and dates of systems; nothing if no system has them. */
export function SystemDescriptions({ systems }: { systems: readonly number[] }) {
  const infos = systems
    .map((system) => leaderboardState.value!.systems[system])
    .filter(({ description, date }) => description || date);
  if (!infos.length) return null;
  return (
    <details>
      <summary>Descriptions of systems ({infos.length})</summary>
      <ul>
        {infos.map(({ name, title, description, date }) => (
          <li key={name} dir="auto">
            <b>{title}</b>
            {date && ` (${date})`}
            {description && `: ${description}`}
          </li>
        ))}
      </ul>
    </details>
  );
}

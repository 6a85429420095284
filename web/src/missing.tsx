// Links to what a report does not have.

import { leaderboardState } from "./components";
import { pageUrl, type QueryChanges, route } from "./route";

/** List what the URL names and the report does not have, such as `dataset “x”`, by parameter. */
export function listMissingTargets(): Map<string, string> {
  const { datasets, systems, profiles, measure_titles: titles } = leaderboardState.value!;
  const known: Record<string, [string, readonly string[]]> = {
    dataset: ["dataset", datasets.map(({ key }) => key)],
    system: ["system", systems.map(({ name }) => name)],
    one: ["system", systems.map(({ name }) => name)],
    two: ["system", systems.map(({ name }) => name)],
    profile: ["profile", profiles.map(({ name }) => name)],
    theirs: ["profile", profiles.map(({ name }) => name)],
  };
  const missing = new Map<string, string>();
  for (const [parameter, [kind, names]] of Object.entries(known)) {
    const value = route.value.query[parameter];
    if (value && !names.includes(value)) missing.set(parameter, `${kind} “${value}”`);
  }
  const measures = (route.value.query.m ?? "").split(" ").filter((name) => name && !Object.hasOwn(titles, name));
  if (measures.length) missing.set("m", `measure ${measures.map((name) => `“${name}”`).join(", ")}`);
  return missing;
}

/** A message about what a link asks for and the report does not have, with a link to the rest of the page. */
export function MissingTarget({
  targets,
  linkText,
  changes,
}: {
  targets: readonly string[];
  linkText: string;
  changes: QueryChanges;
}) {
  return (
    <div class="missing">
      <h1 class="summary">This report has no {[...new Set(targets)].join(" and no ")}.</h1>
      <p>The link may belong to another report, or to an earlier version of this one.</p>
      <p>
        <a href={pageUrl(route.value.page, changes)}>{linkText}</a>
      </p>
    </div>
  );
}

// The URL holds the state of every view: a page and a query.
import { signal } from "@preact/signals";

export interface Route {
  page: string;
  query: Readonly<Record<string, string>>;
}

export type QueryChanges = Record<string, string | number | null | undefined>;

function readRoute(): Route {
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { page: page || "leaderboard", query: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export const route = signal<Route>(readRoute());
addEventListener("hashchange", () => (route.value = readRoute()));

/** Build the URL of a page; omit empty values and keep hidden systems hidden. */
export function pageUrl(page: string, changes: QueryChanges = {}): string {
  const entries = Object.entries({ hide: route.value.query.hide, ...changes }).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const params = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]));
  const text = params.toString();
  return `#/${page}${text ? `?${text}` : ""}`;
}

/** Build the URL of the current page with a changed query. */
export function currentUrl(changes: QueryChanges): string {
  return pageUrl(route.value.page, { ...route.value.query, ...changes });
}

/** Change the query of the current page; with `replace`, add no history entry. */
export function updateQuery(changes: QueryChanges, replace = false): void {
  const url = currentUrl(changes);
  if (!replace) location.hash = url;
  else {
    history.replaceState(null, "", url);
    route.value = readRoute();
  }
}

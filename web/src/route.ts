// The state of every view is in the address: a page and what it is asked for.
import { signal } from "@preact/signals";

export interface Route {
  page: string;
  asked: Readonly<Record<string, string>>;
}

export type Asked = Record<string, string | number | null | undefined>;

function read(): Route {
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { page: page || "board", asked: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export const route = signal<Route>(read());
addEventListener("hashchange", () => (route.value = read()));

/** The address of a page; nothing is asked for by what is empty. Systems that are hidden stay hidden on every page. */
export function address(page: string, asked: Asked = {}): string {
  const given = Object.entries({ hide: route.value.asked.hide, ...asked }).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const text = query.toString();
  return `#/${page}${text ? `?${text}` : ""}`;
}

/** The address of this page with something else asked for. */
export function but(asked: Asked): string {
  return address(route.value.page, { ...route.value.asked, ...asked });
}

/** Ask for something else here; small steps leave no trace in the history. */
export function ask(asked: Asked, small = false): void {
  const next = but(asked);
  if (!small) location.hash = next;
  else {
    history.replaceState(null, "", next);
    route.value = read();
  }
}

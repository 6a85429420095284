// The menu: five groups of pages, and the pages of the current group.

import { PAGES } from "karat:pages";
import { leaderboardState } from "./components";
import { GROUPS, type Group, type Page } from "./page";
import { pageUrl, route } from "./route";

interface MenuGroup {
  group: Group;
  pages: [string, Page][];
}

/** List the groups that have pages, with their pages in order. */
function listGroups(): MenuGroup[] {
  const listed = Object.entries(PAGES)
    .filter(([, { isListed }]) => isListed?.() ?? leaderboardState.value!.systems.length > 0)
    .sort(([, a], [, b]) => a.position - b.position);
  return GROUPS.map((group) => ({ group, pages: listed.filter(([, page]) => page.group === group) })).filter(
    ({ pages }) => pages.length > 0,
  );
}

/** The menu; on small screens it is one drop-down list. */
export function Navigation() {
  const { page, query } = route.value;
  const entry = Object.hasOwn(PAGES, page) ? PAGES[page] : undefined;
  const current = entry?.parent ?? page;
  const groups = listGroups();
  const url = (name: string) => pageUrl(name, { dataset: query.dataset });
  const renderPages = ({ group, pages }: MenuGroup) => (
    <nav class="pages" aria-label={`Pages of ${group}`}>
      {pages.map(([name, { title }]) => (
        <a key={name} href={url(name)} aria-current={name === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
  if (groups.length === 1) return renderPages(groups[0]);
  const currentGroup = groups.find(({ group }) => group === entry?.group);
  return (
    <>
      <nav class="groups" aria-label="Pages">
        {groups.map(({ group, pages }) => (
          <a key={group} href={url(pages[0][0])} aria-current={group === entry?.group ? "true" : undefined}>
            {group}
          </a>
        ))}
      </nav>
      {currentGroup && currentGroup.pages.length > 1 && renderPages(currentGroup)}
      <select
        class="page-choice"
        aria-label="Page"
        value={current}
        onChange={(event) => {
          location.hash = url(event.currentTarget.value);
        }}
      >
        {!groups.some(({ pages }) => pages.some(([name]) => name === current)) && (
          <option value={current}>{entry?.title ?? "Page not found"}</option>
        )}
        {groups.map(({ group, pages }) => (
          <optgroup key={group} label={group}>
            {pages.map(([name, { title }]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </>
  );
}

// The client of the viewer and of the report file.

import { PAGES } from "karat:pages";
import { Component, render } from "preact";
import { useEffect } from "preact/hooks";
import { EmptyState, leaderboardState } from "./components";
import type { Page } from "./page";
import { Upload } from "./pages/upload";
import * as resources from "./resources";
import { pageUrl, type Route, route } from "./route";

const byPosition = ([, a]: [string, Page], [, b]: [string, Page]) => a.position - b.position;

/** An error boundary that keeps the navigation usable. */
class ErrorBoundary extends Component<
  { pageRoute: Route; children: preact.ComponentChildren },
  { pageRoute?: Route; error?: Error }
> {
  static getDerivedStateFromProps({ pageRoute }: { pageRoute: Route }, state: { pageRoute?: Route }) {
    return pageRoute === state.pageRoute ? null : { pageRoute, error: undefined };
  }

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  render() {
    const { error } = this.state;
    return error ? (
      <EmptyState isHeading message={`Cannot show this page. Check its URL. (${error.message})`} />
    ) : (
      this.props.children
    );
  }
}

function App() {
  const { page, query } = route.value;
  const entry = Object.hasOwn(PAGES, page) ? PAGES[page] : undefined;
  useEffect(() => {
    document.title = `${entry?.title ?? "Page not found"} – ${leaderboardState.value!.title}`;
  }, [page]);
  // The text page scrolls to its document.
  const scrollKey = page === "text" && query.doc !== undefined ? "" : `${page} ${query.doc}`;
  useEffect(() => void (query.at || !scrollKey || scrollTo(0, 0)), [scrollKey]);
  return (
    <>
      <header>
        <a
          class="skip"
          href={location.hash || "#/"}
          onClick={(event) => {
            event.preventDefault();
            document.querySelector("main")?.focus();
          }}
        >
          Skip to content
        </a>
        <a class="name" href={pageUrl("leaderboard")}>
          {leaderboardState.value!.title}
        </a>
        <nav aria-label="Pages">
          {Object.entries(PAGES)
            .filter(([, { isListed }]) => isListed?.() ?? leaderboardState.value!.systems.length > 0)
            .sort(byPosition)
            .map(([name, { title }]) => (
              <a
                key={name}
                href={pageUrl(name, { dataset: query.dataset })}
                aria-current={page === name || entry?.parent === name ? "page" : undefined}
              >
                {title}
              </a>
            ))}
        </nav>
      </header>
      <main tabIndex={-1}>
        <ErrorBoundary pageRoute={route.value}>
          {entry ? <entry.Content /> : <EmptyState isHeading message={`Page not found: “${page}”.`} />}
        </ErrorBoundary>
      </main>
      <footer class="quiet">Karat {leaderboardState.value!.version}</footer>
    </>
  );
}

const root = document.getElementById("karat")!;
resources.loadResource("leaderboard").then(
  (resource) => {
    leaderboardState.value = resource;
    if (!resource.systems.length && route.value.page === "leaderboard") location.replace(pageUrl("papers"));
    root.replaceChildren();
    render(<App />, root);
  },
  (error: Error) => {
    root.replaceChildren();
    render(
      <main>
        <EmptyState isHeading message={error.message} command="karat report … --archive FOLDER" />
        {resources.hasServer() && <Upload />}
      </main>,
      root,
    );
  },
);

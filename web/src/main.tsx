// The client of the viewer and of the report file.

import { PAGES } from "karat:pages";
import { signal } from "@preact/signals";
import { Component, render } from "preact";
import { useEffect } from "preact/hooks";
import { EmptyState, leaderboardState } from "./components";
import { KeyList } from "./keys";
import { listMissingTargets, MissingTarget } from "./missing";
import { Navigation } from "./navigation";
import { Upload } from "./pages/upload";
import * as resources from "./resources";
import { pageUrl, type Route, route } from "./route";
import { Waiting } from "./waiting";

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
  const missing = listMissingTargets();
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
        <Navigation />
      </header>
      <main tabIndex={-1}>
        <ErrorBoundary pageRoute={route.value}>
          {!entry ? (
            <EmptyState isHeading message={`Page not found: “${page}”.`} />
          ) : missing.size ? (
            <MissingTarget
              targets={[...missing.values()]}
              linkText={`Open ${entry.title} without it`}
              changes={
                missing.has("dataset")
                  ? {}
                  : { ...query, ...Object.fromEntries([...missing.keys()].map((parameter) => [parameter, ""])) }
              }
            />
          ) : (
            <entry.Content />
          )}
        </ErrorBoundary>
      </main>
      <footer class="quiet">
        <span>Karat {leaderboardState.value!.version}</span>
        <KeyList pageTitle={entry?.title ?? ""} pageKeys={entry?.keys ?? []} />
      </footer>
    </>
  );
}

const loadError = signal<Error | null>(null);

/** The app, or before it what the client waits for and why that failed. */
function Root() {
  if (leaderboardState.value) return <App />;
  return (
    <>
      <header>
        <span class="name">{document.title}</span>
      </header>
      <main>
        {loadError.value ? (
          <>
            <EmptyState isHeading message={loadError.value.message} command="karat report … --archive FOLDER" />
            {resources.hasServer() && !resources.isSingleSubmission() && <Upload />}
          </>
        ) : (
          <Waiting />
        )}
      </main>
    </>
  );
}

const root = document.getElementById("karat")!;
root.replaceChildren();
render(<Root />, root);
resources.loadResource("leaderboard").then(
  (resource) => {
    if (!resource.systems.length && route.value.page === "leaderboard")
      location.replace(pageUrl(resource.has_papers ? "papers" : "verification"));
    leaderboardState.value = resource;
  },
  (error: Error) => {
    loadError.value = error;
  },
);

// The client of the viewer and of the report file.
import { Component, render } from "preact";
import { useEffect } from "preact/hooks";
import { EmptyState, leaderboardState } from "./components";
import { Cases } from "./pages/cases";
import { Comparison } from "./pages/compare";
import { Curves } from "./pages/curves";
import { Entities, EntityPage, SurfacePage } from "./pages/entities";
import { Errors } from "./pages/errors";
import { Figures } from "./pages/figures";
import { Flips } from "./pages/flips";
import { GoldStandard } from "./pages/gold";
import { Leaderboard } from "./pages/leaderboard";
import { Profiles } from "./pages/profiles";
import { TextPage } from "./pages/text";
import { Upload } from "./pages/upload";
import { Verification } from "./pages/verification";
import * as resources from "./resources";
import { pageUrl, type Route, route } from "./route";

const PAGES: Record<string, readonly [string, () => preact.ComponentChildren]> = {
  leaderboard: ["Leaderboard", () => <Leaderboard />],
  errors: ["Errors", () => <Errors />],
  cases: ["Cases", () => <Cases />],
  text: ["Texts", () => <TextPage />],
  flips: ["Flips", () => <Flips />],
  compare: ["Compare", () => <Comparison />],
  entities: ["Entities", () => <Entities />],
  dataset: ["Gold standard", () => <GoldStandard />],
  profiles: ["Profiles", () => <Profiles />],
  curves: ["Curves", () => <Curves />],
  figures: ["Figures", () => <Figures />],
  verification: ["Verification", () => <Verification />],
  ...(resources.hasServer() && !resources.isSingleSubmission()
    ? { upload: ["Upload", () => <Upload />] as const }
    : {}),
};

/** Pages without an entry in the navigation. */
const DETAIL_PAGES: Record<string, readonly [string, () => preact.ComponentChildren]> = {
  entity: ["Entity", () => <EntityPage />],
  mention: ["Mention", () => <SurfacePage />],
};

/** An error boundary that keeps the navigation usable. */
class ErrorBoundary extends Component<
  { pageRoute: Route; children: preact.ComponentChildren },
  { pageRoute?: Route; error?: Error }
> {
  static getDerivedStateFromProps({ pageRoute }: { pageRoute: Route }, state: { pageRoute?: Route }) {
    return pageRoute === state.pageRoute ? null : { pageRoute, error: undefined };
  }

  static getDerivedStateFromError(error: Error) {
    return { problem: error };
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
  const entry = DETAIL_PAGES[page] ?? PAGES[page];
  useEffect(() => {
    document.title = `${entry?.[0] ?? "Page not found"} – ${leaderboardState.value!.title}`;
  }, [page]);
  useEffect(() => void (query.at || scrollTo(0, 0)), [page, query.doc]);
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
            .filter(([name]) => name !== "verification" || leaderboardState.value!.has_verification)
            .map(([name, [title]]) => (
              <a
                key={name}
                href={pageUrl(name, { dataset: query.dataset })}
                aria-current={page === name || (page in DETAIL_PAGES && name === "entities") ? "page" : undefined}
              >
                {title}
              </a>
            ))}
        </nav>
      </header>
      <main tabIndex={-1}>
        <ErrorBoundary pageRoute={route.value}>
          {entry ? entry[1]() : <EmptyState isHeading message={`Page not found: “${page}”.`} />}
        </ErrorBoundary>
      </main>
      <footer class="quiet">Karat {leaderboardState.value!.version}</footer>
    </>
  );
}

const root = document.getElementById("karat")!;
resources.loadLeaderboard().then(
  (resource) => {
    leaderboardState.value = resource;
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

// One program for the viewer and for the file.
import { Component, render } from "preact";
import { useEffect } from "preact/hooks";
import { address, type Route, route } from "./route";
import { info, Missing } from "./parts";
import * as source from "./source";
import { Board } from "./pages/board";
import { Cases } from "./pages/cases";
import { Compare } from "./pages/compare";
import { Conventions } from "./pages/conventions";
import { Curves } from "./pages/curves";
import { Dataset } from "./pages/dataset";
import { Entities, OneEntity, OneMention } from "./pages/entities";
import { Errors } from "./pages/errors";
import { Figures } from "./pages/figures";
import { Flips } from "./pages/flips";
import { Text } from "./pages/text";
import { Upload } from "./pages/upload";
import { Verification } from "./pages/verification";

const PAGES: Record<string, readonly [string, () => preact.ComponentChildren]> = {
  board: ["Board", () => <Board />],
  errors: ["Errors", () => <Errors />],
  cases: ["Cases", () => <Cases />],
  text: ["Texts", () => <Text />],
  flips: ["Flips", () => <Flips />],
  compare: ["Compare", () => <Compare />],
  entities: ["Entities", () => <Entities />],
  dataset: ["Gold standard", () => <Dataset />],
  conventions: ["Conventions", () => <Conventions />],
  curves: ["Curves", () => <Curves />],
  figures: ["Figures", () => <Figures />],
  verification: ["Verification", () => <Verification />],
  ...(source.served() && !source.alone() ? { upload: ["Upload", () => <Upload />] as const } : {}),
};

/** Pages that others lead to, and of which it says where they belong. */
const INNER: Record<string, readonly [string, () => preact.ComponentChildren]> = {
  entity: ["Entity", () => <OneEntity />],
  mention: ["Mention", () => <OneMention />],
};

/** A page that fails says so, and the others stay within reach. */
class Caught extends Component<{ at: Route; children: preact.ComponentChildren }, { at?: Route; problem?: Error }> {
  static getDerivedStateFromProps({ at }: { at: Route }, state: { at?: Route }) {
    return at === state.at ? null : { at, problem: undefined };
  }

  static getDerivedStateFromError(problem: Error) {
    return { problem };
  }

  render() {
    const { problem } = this.state;
    return problem ? <Missing heading says={`This page could not be drawn from what its address asks for: ${problem.message}`} /> : this.props.children;
  }
}

function App() {
  const { page, asked } = route.value;
  const known = INNER[page] ?? PAGES[page];
  useEffect(() => void (document.title = `${known?.[0] ?? "Nothing"} – ${info.value!.title}`), [page]);
  useEffect(() => void (asked.at || scrollTo(0, 0)), [page, asked.doc]);
  return (
    <>
      <header>
        <a class="skip" href={location.hash || "#/"} onClick={(event) => { event.preventDefault(); document.querySelector("main")?.focus(); }}>To the content</a>
        <a class="name" href={address("board")}>{info.value!.title}</a>
        <nav aria-label="Pages">
          {Object.entries(PAGES).filter(([name]) => name !== "verification" || info.value!.verified).map(([name, [title]]) => (
            <a key={name} href={address(name, { dataset: asked.dataset })} aria-current={page === name || (page in INNER && name === "entities") ? "page" : undefined}>{title}</a>
          ))}
        </nav>
      </header>
      <main tabIndex={-1}><Caught at={route.value}>{known ? known[1]() : <Missing heading says={`There is no page “${page}”.`} />}</Caught></main>
      <footer class="quiet">Karat {info.value!.version}</footer>
    </>
  );
}

const root = document.getElementById("karat")!;
source.board().then(
  (piece) => {
    info.value = piece;
    root.replaceChildren();
    render(<App />, root);
  },
  (problem: Error) => {
    root.replaceChildren();
    render(<main><Missing heading says={problem.message} command="karat report … --archive FOLDER" />{source.served() && <Upload />}</main>, root);
  },
);

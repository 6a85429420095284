// Reproductions of papers: every table, figure and claim, published values beside Karat's.

import { EmptyState, formatNumber, Loader, leaderboardState, Select, Toolbar, useResource } from "../components";
import type { Page } from "../page";
import * as resources from "../resources";
import { route } from "../route";
import type { CellRecord, Explanation, PaperExhibit, PaperPicture, PaperReproduction } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";

export function Papers() {
  const state = useResource(() => resources.loadResource("papers"), "papers");
  return (
    <Loader state={state}>
      {({ papers }) => {
        const paper = papers.find(({ suite }) => suite === route.value.query.paper) ?? papers[0];
        return paper ? (
          <>
            {papers.length > 1 && (
              <Toolbar>
                <Select
                  label="paper"
                  name="paper"
                  value={paper.suite}
                  options={papers.map(({ suite, title }) => [suite, title])}
                />
              </Toolbar>
            )}
            <PaperReport paper={paper} />
          </>
        ) : (
          <EmptyState
            isHeading
            message="No paper is reproduced here."
            command="karat reproduce PAPER --data DIR --archive FOLDER"
          />
        );
      }}
    </Loader>
  );
}

/** The number of values by outcome; values that follow only from other published values in brackets. */
function formatStatuses(statuses: Readonly<Record<string, number>>, cells: readonly CellRecord[]): string {
  const fromPaper = cells.filter((cell) => cell.status === "reproduced" && cell.is_from_paper).length,
    remark = fromPaper ? ` (${formatNumber(fromPaper)} from other published values)` : "";
  return Object.entries(statuses)
    .map(([status, count]) => `${formatNumber(count)} ${status}${status === "reproduced" ? remark : ""}`)
    .join(", ");
}

/** Without published values there are no outcomes to count. */
const hasOutcomes = (statuses: Readonly<Record<string, number>>): boolean =>
  Object.values(statuses).some((count) => count > 0);

const PaperReport = ({ paper }: { paper: PaperReproduction }) => (
  <>
    <h1 class="summary">
      {paper.title}
      {hasOutcomes(paper.statuses) &&
        `: ${formatStatuses(
          paper.statuses,
          paper.exhibits.flatMap(({ cells }) => cells),
        )}.`}
    </h1>
    {hasOutcomes(paper.statuses) && (
      <p class="quiet prose">
        Each cell is Karat's value. If it differs from the published value, that follows in brackets with the number of
        the reason.
      </p>
    )}
    {paper.exhibits.length > 1 && <Contents exhibits={paper.exhibits} />}
    {paper.exhibits.map((exhibit) => (
      <Exhibit key={`${paper.suite} ${exhibit.name}`} exhibit={exhibit} />
    ))}
  </>
);

const toId = ({ name }: PaperExhibit): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "-");

/** All tables, figures and sections with their outcomes; a name scrolls to its place. */
const Contents = ({ exhibits }: { exhibits: readonly PaperExhibit[] }) => (
  <details>
    <summary>{formatNumber(exhibits.length)} tables, figures and sections</summary>
    <ul>
      {exhibits.map((exhibit) => (
        <li key={exhibit.name}>
          <button type="button" onClick={() => document.getElementById(toId(exhibit))?.scrollIntoView()}>
            {exhibit.name}: {exhibit.title}
          </button>
          {hasOutcomes(exhibit.statuses) && (
            <span class="quiet"> {formatStatuses(exhibit.statuses, exhibit.cells)}</span>
          )}
        </li>
      ))}
    </ul>
  </details>
);

const formatExplanation = ({ cause, text, missing_file }: Explanation): string =>
  `${cause}: ${text}${missing_file && !text.includes(missing_file) ? ` (missing: ${missing_file})` : ""}`;

/** Number the distinct reasons of values that differ or are missing. */
const numberReasons = (cells: readonly CellRecord[]): Map<string, number> =>
  new Map(
    [
      ...new Set(
        cells.flatMap(({ status, explanation }) =>
          status !== "reproduced" && explanation ? [formatExplanation(explanation)] : [],
        ),
      ),
    ].map((reason, index) => [reason, index + 1]),
  );

function Exhibit({ exhibit }: { exhibit: PaperExhibit }) {
  const reasons = numberReasons(exhibit.cells);
  return (
    <section>
      <h2 id={toId(exhibit)}>
        {exhibit.name}: {exhibit.title}
      </h2>
      <Commands command={exhibit.command} />
      {exhibit.cells.length > 0 && <PaperTable exhibit={exhibit} reasons={reasons} />}
      {exhibit.pictures.length > 0 && (
        <div class="pictures">
          {exhibit.pictures.map((picture) => (
            <Picture key={picture.title} picture={picture} />
          ))}
        </div>
      )}
      {exhibit.own_table.length > 0 && (
        <OwnTable
          name={exhibit.cells.length > 0 ? `${exhibit.name}, other systems` : exhibit.name}
          rows={exhibit.own_table}
        />
      )}
      {(reasons.size > 0 || exhibit.notes.length > 0) && (
        <ul class="prose">
          {[...reasons].map(([reason, number]) => (
            <li key={reason}>
              ({number}) {reason}.
            </li>
          ))}
          {exhibit.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {hasOutcomes(exhibit.statuses) && <p class="quiet">{formatStatuses(exhibit.statuses, exhibit.cells)}.</p>}
    </section>
  );
}

const COMMAND_LENGTH = 300;

/** The command lines; long ones are folded. */
function Commands({ command }: { command: string }) {
  const lines = <pre class="command">{command}</pre>;
  if (command.length <= COMMAND_LENGTH) return lines;
  const count = command.split("\n").length;
  return (
    <details>
      <summary>{count === 1 ? "Command" : `${formatNumber(count)} commands`}</summary>
      {lines}
    </details>
  );
}

const PROSE_LENGTH = 24;

/** Claims, one per row: what the paper says, and what Karat finds. */
const ClaimTable = ({ exhibit, reasons }: { exhibit: PaperExhibit; reasons: ReadonlyMap<string, number> }) => (
  <Sheet
    name={exhibit.name}
    columns={[{ title: exhibit.name }, { title: "published" }, { title: "Karat" }, { title: "outcome" }]}
    rows={exhibit.cells.map((cell) => [
      { text: cell.row },
      { text: cell.published },
      { text: cell.value ?? "–" },
      outcomeCell(cell, `${cell.status}${formatReason(cell, reasons)}`),
    ])}
  />
);

/** The values as the paper arranges them, rows by columns. */
function PaperTable({ exhibit, reasons }: { exhibit: PaperExhibit; reasons: ReadonlyMap<string, number> }) {
  const rowNames = [...new Set(exhibit.cells.map(({ row }) => row))],
    columnNames = [...new Set(exhibit.cells.map(({ column }) => column))];
  if (columnNames.length === 1 && exhibit.cells.some(({ published }) => published.length > PROSE_LENGTH))
    return <ClaimTable exhibit={exhibit} reasons={reasons} />;
  const isProse = (name: string) =>
    exhibit.cells.some(({ column, published }) => column === name && published.length > PROSE_LENGTH);
  const toColumn = (title: string): Column => ({ title, kind: isProse(title) ? "text" : "number" });
  const byPlace = new Map<string, CellRecord>(exhibit.cells.map((cell) => [`${cell.row}\n${cell.column}`, cell]));
  return (
    <Sheet
      name={exhibit.name}
      columns={[{ title: exhibit.name }, ...columnNames.map(toColumn)]}
      rows={rowNames.map((row) => [
        { text: row },
        ...columnNames.map((column) => valueCell(byPlace.get(`${row}\n${column}`), reasons)),
      ])}
    />
  );
}

function valueCell(cell: CellRecord | undefined, reasons: ReadonlyMap<string, number>): Cell {
  if (!cell) return { text: "" };
  const value = cell.value ?? "–";
  if (cell.status === "reproduced" && cell.value === cell.published) return { text: value };
  return outcomeCell(cell, `${value} [${cell.published}]${formatReason(cell, reasons)}`);
}

/** The number of the reason in brackets; nothing without a reason. */
function formatReason(cell: CellRecord, reasons: ReadonlyMap<string, number>): string {
  const number = cell.explanation && reasons.get(formatExplanation(cell.explanation));
  return number ? ` (${number})` : "";
}

/** A text in the colour of the outcome, with the difference as tooltip. */
const outcomeCell = (cell: CellRecord, text: string): Cell => ({
  text,
  content: (
    <span
      class={`outcome ${cell.status}`}
      title={`${cell.status}${cell.difference ? `, difference ${cell.difference}` : ""}`}
    >
      {text}
    </span>
  ),
});

const Picture = ({ picture }: { picture: PaperPicture }) => (
  <img class="picture" alt={picture.title} src={`data:image/svg+xml,${encodeURIComponent(picture.svg)}`} />
);

const OwnTable = ({ name, rows }: { name: string; rows: readonly (readonly string[])[] }) => (
  <Sheet
    name={name}
    columns={rows[0].map((title, index) => ({ title, kind: index ? ("number" as const) : ("text" as const) }))}
    rows={rows.slice(1).map((row) => row.map((text) => ({ text })))}
  />
);

export const PAGE: Page = {
  title: "Papers",
  group: "Method",
  position: 30,
  Content: Papers,
  isListed: () => leaderboardState.value!.has_papers,
};

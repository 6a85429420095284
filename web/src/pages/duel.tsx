// Duel: two systems on all datasets, with the significance of their differences, and where they differ.

import {
  DatasetSelect,
  EmptyState,
  formatCount,
  formatNumber,
  formatPercent,
  formatSigned,
  getRowLimit,
  getSelectedDataset,
  getVisibleSystems,
  Loader,
  leaderboardState,
  MoreLink,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useData,
  useResource,
} from "../components";
import { type Data, KINDS, SPURIOUS_PREDICTION, WRONG_SPAN } from "../data";
import { measurePhrase, measureTitle } from "../measures";
import type { Page } from "../page";
import { type Difference, findDifference, formatP } from "../pairs";
import * as resources from "../resources";
import { currentUrl, pageUrl, route } from "../route";
import type { MeasureTable, PairsResource } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";
import { NoCases } from "./cases";
import { FlipGroups, FlipSummary, findTrack } from "./flips";

export function Duel() {
  const { query } = route.value,
    { systems } = leaderboardState.value!;
  const state = useResource(() => resources.loadResource("pairs"), "pairs");
  if (systems.length < 2)
    return (
      <EmptyState
        isHeading
        message="The report contains one system. Pass the predictions of a second system:"
        command="karat report --gold GOLD FIRST SECOND --to html --out report.html"
      />
    );
  const findSystem = (name: string | undefined, defaults: readonly number[], other = -1) => {
    const index = systems.findIndex((system) => system.name === name);
    return index >= 0 && index !== other ? index : defaults.find((system) => system !== other)!;
  };
  const visibleSystems = getVisibleSystems(),
    defaults = visibleSystems.length > 1 ? visibleSystems : systems.map((_, system) => system);
  const a = findSystem(query.one, defaults),
    b = findSystem(query.two, [...defaults, ...systems.keys()], a);
  return <Loader state={state}>{(resource) => <DuelReport resource={resource} a={a} b={b} />}</Loader>;
}

/** Format an end of an interval in points. */
const formatEnd = (value: number): string => `${value < 0 ? "−" : ""}${formatPercent(Math.abs(value))}`;

const formatInterval = ({ low, high }: Difference): string =>
  low === null || high === null ? "–" : `[${formatEnd(low)}, ${formatEnd(high)}]`;

/** Name the system that is significantly better, or say that neither is. */
function describeVerdict(table: MeasureTable, difference: Difference | null, a: number, b: number): string {
  if (!difference || difference.corrected === null || difference.value === null) return "not tested";
  if (difference.corrected > leaderboardState.value!.alpha) return "not significant";
  return `${systemTitle(difference.value > 0 === (table.direction !== "low") ? a : b)} is better`;
}

/** Explain why two systems have no tested difference on a dataset. */
function explainMissing(table: MeasureTable, dataset: number, a: number, b: number, difference: Difference | null) {
  const missing = [a, b].filter((system) => table.value[dataset][system] === null);
  if (missing.length) return `no score of ${missing.map(systemTitle).join(" and ")}`;
  return (
    difference?.reason ??
    table.untested.find((entry) => entry.dataset === dataset && entry.systems.some((s) => s === a || s === b))
      ?.reason ??
    table.untested_reason
  );
}

function DuelReport({ resource, a, b }: { resource: PairsResource; a: number; b: number }) {
  const { query } = route.value;
  const leaderboard = leaderboardState.value!,
    { datasets, systems, profiles } = leaderboard;
  const [titleA, titleB] = [a, b].map(systemTitle);
  const headline = profiles[0].headline,
    testedMeasures = [...new Set(resource.tables.map((table) => table.measure))];
  const tables = leaderboard.tables
    .filter((table) => table.profile === leaderboard.profile && testedMeasures.includes(table.measure))
    .sort((x, y) => Number(y.measure === headline) - Number(x.measure === headline));
  const shownTables = tables.filter((table) => !query.m || table.measure === query.m);
  const dataset = getSelectedDataset(
    (item) =>
      tables[0] !== undefined &&
      [a, b].every((system) => tables[0].value[datasets.indexOf(item)][system] !== null) &&
      item.cases,
  )!;
  const columns: Column[] = [
    { title: "dataset" },
    { title: "measure" },
    { title: titleA, kind: "number" },
    { title: titleB, kind: "number" },
    { title: `${titleA} − ${titleB}`, kind: "number" },
    { title: "95 % interval", kind: "number" },
    { title: "p", kind: "number" },
    { title: "p, corrected", kind: "number" },
    { title: "result" },
  ];
  const rows = datasets.flatMap((item, index) =>
    (shownTables.length ? shownTables : tables).map((table): Cell[] => {
      const difference = findDifference(resource, table.measure, index, a, b);
      const scoreCell = (system: number): Cell => ({
        text: formatPercent(table.value[index][system]),
        content:
          item.cases && table.value[index][system] !== null ? (
            <a href={pageUrl("cases", { dataset: item.key, system: systemName(system) })}>
              <span class="figure">{formatPercent(table.value[index][system])}</span>
            </a>
          ) : (
            <span class="figure">{formatPercent(table.value[index][system])}</span>
          ),
      });
      const verdict = describeVerdict(table, difference, a, b),
        differenceText = difference?.value == null ? "–" : formatSigned(difference.value),
        reason = verdict === "not tested" ? explainMissing(table, index, a, b, difference) : "";
      const [one, two] = [a, b].map(systemName);
      return [
        {
          text: item.name,
          content: (
            <a href={currentUrl({ dataset: item.key })} aria-current={item === dataset ? "true" : undefined} dir="auto">
              {item.name}
            </a>
          ),
        },
        { text: measureTitle(table.measure) },
        scoreCell(a),
        scoreCell(b),
        {
          text: differenceText,
          isBest: verdict.endsWith("better"),
          content:
            item.cases && difference?.value != null ? (
              <a href={pageUrl("flips", { dataset: item.key, one, two })}>
                <span class="figure">{differenceText}</span>
              </a>
            ) : (
              <span class="figure">{differenceText}</span>
            ),
        },
        { text: difference ? formatInterval(difference) : "–" },
        { text: difference?.p == null ? "–" : formatP(difference.p) },
        { text: difference?.corrected == null ? "–" : formatP(difference.corrected) },
        { text: reason ? `${verdict}: ${reason}` : verdict },
      ];
    }),
  );
  const options = systems.map((system) => [system.name, system.title] as const);
  const signatures = new Map(
    leaderboard.notes
      .filter((note) => note.system === a || note.system === b)
      .map((note) => [note.signature, datasets[note.dataset].name]),
  );
  return (
    <>
      <h1 class="summary">
        <Statement resource={resource} table={tables[0]} dataset={datasets.indexOf(dataset)} a={a} b={b} />
      </h1>
      <Toolbar>
        <Select label="first system" name="one" value={systemName(a)} options={options} />
        <Select label="second system" name="two" value={systemName(b)} options={options} />
        <a href={currentUrl({ one: systemName(b), two: systemName(a) })}>swap</a>
        <DatasetSelect />
        {tables.length > 1 && (
          <Select
            label="measures"
            name="m"
            value={query.m ?? ""}
            options={[["", "all tested"], ...tables.map((table) => [table.measure, table.measure] as const)]}
          />
        )}
      </Toolbar>
      <Sheet name="Differences" columns={columns} rows={rows} />
      <p class="quiet prose">
        Differences in points, with 95 % confidence intervals from bootstrap samples of documents that both systems
        share. P-values: {leaderboard.tests}. Only systems with the same settings are compared. Select a difference to
        see its mentions.
      </p>
      <DuelCases dataset={dataset.key} hasCases={dataset.cases} a={a} b={b} />
      <details>
        <summary>Signatures: all settings behind the scores</summary>
        {[...signatures].map(([signature, name]) => (
          <p class="signature" key={signature}>
            {name}: {signature}
          </p>
        ))}
      </details>
    </>
  );
}

/** A sentence on the difference between two systems on a dataset. */
function Statement({
  resource,
  table,
  dataset,
  a,
  b,
}: {
  resource: PairsResource;
  table: MeasureTable | undefined;
  dataset: number;
  a: number;
  b: number;
}) {
  const { datasets } = leaderboardState.value!,
    [titleA, titleB] = [a, b].map(systemTitle);
  const difference = table ? findDifference(resource, table.measure, dataset, a, b) : null;
  if (!table || difference?.value == null)
    return (
      <>
        {titleA} and {titleB} cannot be compared on {datasets[dataset].name}
        {table && `: ${explainMissing(table, dataset, a, b, difference)}`}.
      </>
    );
  const verdict = describeVerdict(table, difference, a, b);
  return (
    <>
      <b>
        {titleA} − {titleB} = {formatSigned(difference.value)} {measurePhrase(table.measure)}
      </b>{" "}
      on {datasets[dataset].name}
      {difference.low !== null && `, 95 % interval ${formatInterval(difference)}`}
      {difference.p !== null && `, p ${formatP(difference.p).replace(/^(?=\d)/, "= ")}`}.{" "}
      {verdict === "not tested"
        ? `Not tested: ${explainMissing(table, dataset, a, b, difference)}.`
        : verdict === "not significant"
          ? "The difference is not significant."
          : `${verdict.replace(" is better", " is significantly better")}.`}
    </>
  );
}

/** Where two systems differ on a dataset: flips by error category, and documents. */
function DuelCases({ dataset, hasCases, a, b }: { dataset: string; hasCases: boolean; a: number; b: number }) {
  if (!hasCases) return <NoCases isHeading={false} />;
  return (
    <Loader state={useData(dataset)}>
      {(data) => {
        const tracks = [findTrack(data, systemName(a), -1), findTrack(data, systemName(b), -1)] as const;
        if (tracks.includes(-1)) return <p>One of the systems has no cases on this dataset.</p>;
        const datasetName = leaderboardState.value!.datasets.find((item) => item.key === dataset)!.name;
        return (
          <>
            <h2>Flips by error category on {datasetName}</h2>
            <p class="prose">
              <FlipSummary data={data} dataset={dataset} tracks={tracks} />
            </p>
            <FlipGroups data={data} dataset={dataset} tracks={tracks} groupBy="error" />
            <DocumentDifferences data={data} dataset={dataset} tracks={tracks} />
          </>
        );
      }}
    </Loader>
  );
}

/** The documents on which two systems differ most. */
function DocumentDifferences({
  data,
  dataset,
  tracks,
}: {
  data: Data;
  dataset: string;
  tracks: readonly [number, number];
}) {
  const [titleA, titleB] = tracks.map((t) => systemTitle(data.tracks[t].system)),
    [one, two] = tracks.map((t) => systemName(data.tracks[t].system));
  const { exclusiveMentions, differentMentions } = data.compareTracks(...tracks);
  const spurious = data.listExclusivePredictions(...tracks);
  const counts = new Map<number, number[]>();
  const lists = [
    ...[...exclusiveMentions, differentMentions].map((mentions) => mentions.map((g) => data.resource.gold.document[g])),
    ...spurious.map((rows, index) => rows.map((row) => data.tracks[tracks[index]].document[row])),
  ];
  lists.forEach((documents, column) => {
    for (const doc of documents) {
      if (!counts.has(doc)) counts.set(doc, [0, 0, 0, 0, 0]);
      counts.get(doc)![column]++;
    }
  });
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  const documents = [...counts].sort((x, y) => total(y[1]) - total(x[1]) || x[0] - y[0]);
  if (!documents.length) return <p>The two systems do not differ on any document.</p>;
  const columns: Column[] = [
    { title: "document" },
    { title: "cases that differ", kind: "number" },
    { title: `only ${titleA} correct`, kind: "number" },
    { title: `only ${titleB} correct`, kind: "number" },
    { title: "both wrong, differently", kind: "number" },
    { title: `spurious, only ${titleA}`, kind: "number" },
    { title: `spurious, only ${titleB}`, kind: "number" },
  ];
  const spuriousKinds = [WRONG_SPAN, SPURIOUS_PREDICTION].map((kind) => KINDS[kind]).join(",");
  const shownDocuments = documents.slice(0, getRowLimit() === 100 ? 10 : getRowLimit());
  const rows = shownDocuments.map(([doc, values]): Cell[] => {
    const { id } = data.resource.documents[doc];
    const textUrl = pageUrl("text", { dataset, doc: id, tracks: `${one},${two}` });
    const urls = [
      ...["one", "two", "both"].map((side) => pageUrl("flips", { dataset, one, two, by: "doc", value: id, side })),
      ...[one, two].map((system) => pageUrl("cases", { dataset, system, doc: id, kind: spuriousKinds })),
    ];
    return [
      {
        text: data.getTitle(doc),
        content: (
          <a href={textUrl} dir="auto">
            {data.getTitle(doc)}
          </a>
        ),
      },
      {
        text: formatNumber(total(values)),
        content: (
          <a href={textUrl}>
            <span class="figure">{formatNumber(total(values))}</span>
          </a>
        ),
      },
      ...values.map(
        (value, index): Cell => ({
          text: formatNumber(value),
          content: value ? (
            <a href={urls[index]}>
              <span class="figure">{formatNumber(value)}</span>
            </a>
          ) : (
            <span class="figure quiet">0</span>
          ),
        }),
      ),
    ];
  });
  return (
    <>
      <h2>Documents on which they differ most</h2>
      <p class="quiet prose">
        {formatCount(documents.length, "document")} with a difference. A document opens with a track for each of the two
        systems. Spurious predictions include wrong spans; only those are counted that the other system does not make.
      </p>
      <Sheet name="Documents" columns={columns} rows={rows} />
      <MoreLink count={shownDocuments.length} total={documents.length} unit="documents" />
    </>
  );
}

export const PAGE: Page = {
  title: "Duel",
  group: "Results",
  position: 15,
  Content: Duel,
  isListed: () => leaderboardState.value!.systems.length > 1,
};

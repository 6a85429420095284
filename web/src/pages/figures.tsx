// Figures for papers.
import { useMemo } from "preact/hooks";
import { Chart } from "../chart";
import {
  DatasetSelect,
  EmptyState,
  EntityLink,
  formatNumber,
  formatPercent,
  getRowLimit,
  getSelectedDataset,
  getVisibleSystems,
  getVisibleTracks,
  HiddenSystems,
  KindLabel,
  Loader,
  leaderboardState,
  MentionContext,
  MoreLink,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useData,
  useResource,
  useTexts,
} from "../components";
import { CORRECT_LINK, type Data, MISSED_MENTION, SPURIOUS_PREDICTION, UNCOUNTED_CASE, WRONG_LINK } from "../data";
import { Graph } from "../graph";
import { measureTitle } from "../measures";
import type { Page } from "../page";
import { findRegions } from "../regions";
import * as resources from "../resources";
import { pageUrl, route } from "../route";
import type { ChartData, CreditsResource, ProblemsResource } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";
import { NoCases } from "./cases";

const FIGURE_TITLES: readonly (readonly [string, string])[] = [
  ["", "systems by dataset"],
  ["heat", "shaded table"],
  ["problems", "problems and systems"],
  ["text", "one text, all systems"],
  ["verdicts", "one prediction, several verdicts"],
];

const FigureSelect = () => (
  <Select label="figure" name="show" value={route.value.query.show ?? ""} options={FIGURE_TITLES} />
);

export function Figures() {
  switch (route.value.query.show) {
    case "heat":
      return <HeatTable />;
    case "problems":
      return <Problems />;
    case "text":
      return <TextFigure />;
    case "verdicts":
      return <Verdicts />;
    default:
      return <DatasetChart />;
  }
}

/** Read the measure and the profile from the query. */
function useTable() {
  const { query } = route.value;
  const leaderboard = leaderboardState.value!;
  const profile = leaderboard.profiles.find((item) => item.name === query.profile) ?? leaderboard.profiles[0];
  const tables = leaderboard.tables.filter((item) => item.profile === profile.name);
  const table =
    tables.find((item) => item.measure === query.m) ??
    tables.find((item) => item.measure === profile.headline) ??
    tables[0];
  const controls = (
    <>
      <Select
        label="measure"
        name="m"
        value={table.measure}
        options={tables.map((item) => [item.measure, `${measureTitle(item.measure)} · ${item.measure}`])}
      />
      {leaderboard.profiles.length > 1 && (
        <Select
          label="profile"
          name="profile"
          value={profile.name}
          options={leaderboard.profiles.map((item) => [item.name, item.title])}
          reset={{ m: "" }}
        />
      )}
    </>
  );
  return { table, controls };
}

/** A line chart of all systems over all datasets. */
function DatasetChart() {
  const leaderboard = leaderboardState.value!,
    { table, controls } = useTable();
  const chart: ChartData = {
    name: "datasets",
    title: `${measureTitle(table.measure)} of every system on every dataset`,
    description: "Datasets in order of their mean score, the easiest first.",
    x: "dataset",
    y: measureTitle(table.measure),
    form: "line",
    log: false,
    diagonal: false,
    markers: [],
    undrawn: [],
    ...buildLines(),
  };
  function buildLines(): Pick<ChartData, "ticks" | "lines"> {
    const systems = getVisibleSystems();
    const meanScore = (datasetIndex: number) => {
      const scores = systems.map((system) => table.value[datasetIndex][system]).filter((value) => value !== null);
      return scores.length ? scores.reduce((sum, value) => sum + value, 0) / scores.length : -1;
    };
    const datasetIndexes = leaderboard.datasets
      .map((_, datasetIndex) => datasetIndex)
      .filter((datasetIndex) => meanScore(datasetIndex) >= 0)
      .sort((a, b) => meanScore(b) - meanScore(a));
    return {
      ticks: datasetIndexes.map((datasetIndex) => leaderboard.datasets[datasetIndex].name),
      lines: systems.map((system) => {
        const indexes = datasetIndexes
          .map((_, index) => index)
          .filter((index) => table.value[datasetIndexes[index]][system] !== null);
        return { system, x: indexes, y: indexes.map((index) => table.value[datasetIndexes[index]][system]!) };
      }),
    };
  }
  return (
    <>
      <h1 class="summary">
        Scores of all systems on {chart.ticks.length === 1 ? "one dataset" : `${chart.ticks.length} datasets`}.
      </h1>
      <Toolbar>
        <FigureSelect />
        {controls}
        <HiddenSystems />
      </Toolbar>
      <div class="charts one">
        <Chart chart={chart} />
      </div>
      <p class="quiet prose">
        For intervals, see the{" "}
        <a href={pageUrl("leaderboard", { m: table.measure, profile: route.value.query.profile })}>leaderboard</a>.
      </p>
    </>
  );
}

/** A shaded table of all systems on all datasets. */
function HeatTable() {
  const leaderboard = leaderboardState.value!,
    { table, controls } = useTable();
  const systems = getVisibleSystems(),
    values = systems.flatMap((system) => table.value.map((row) => row[system])).filter((value) => value !== null);
  const low = Math.min(...values),
    high = Math.max(...values);
  const columns: Column[] = [
    { title: "system" },
    ...leaderboard.datasets.map((dataset): Column => ({ title: dataset.name, kind: "number" })),
  ];
  const rows = systems.map((system): Cell[] => [
    { text: systemTitle(system) },
    ...leaderboard.datasets.map((dataset, datasetIndex): Cell => {
      const value = table.value[datasetIndex][system];
      return {
        text: formatPercent(value),
        heat: value === null || high === low ? undefined : (value - low) / (high - low),
        content:
          value !== null && dataset.cases ? (
            <a class="plain" href={pageUrl("cases", { dataset: dataset.key, system: systemName(system) })}>
              {formatPercent(value)}
            </a>
          ) : (
            formatPercent(value)
          ),
      };
    }),
  ]);
  return (
    <>
      <h1 class="summary">
        {measureTitle(table.measure)} of all systems on all datasets. Darker cells have higher scores.
      </h1>
      <Toolbar>
        <FigureSelect />
        {controls}
        <HiddenSystems />
      </Toolbar>
      <Sheet name="Shaded table" columns={columns} rows={rows} />
      <p class="quiet prose">
        Scores in percent. The leaderboard has more shaded tables:{" "}
        <a href={pageUrl("leaderboard", { show: "errors" })}>by error category</a>,{" "}
        <a href={pageUrl("leaderboard", { show: "types" })}>by facet</a>.
      </p>
    </>
  );
}

function Problems() {
  const state = useResource(() => resources.loadResource("problems"), "problems");
  return (
    <>
      <h1 class="summary">Problems, the reductions between them, and the systems and datasets for each problem.</h1>
      <Toolbar>
        <FigureSelect />
      </Toolbar>
      <Loader state={state}>{(resource) => <ProblemGraph resource={resource} />}</Loader>
    </>
  );
}

function ProblemGraph({ resource }: { resource: ProblemsResource }) {
  const leaderboard = leaderboardState.value!;
  const datasetName = (datasetIndex: number) => leaderboard.datasets[datasetIndex].name;
  const rows = resource.problems.map((problem): Cell[] => [
    {
      text: problem.title,
      content: (
        <>
          <b>{problem.title}</b> <span class="quiet">{problem.description}</span>
        </>
      ),
    },
    { text: problem.systems.map(systemTitle).join(", ") },
    { text: problem.datasets.map(datasetName).join(", ") },
    {
      text: resource.reductions
        .filter(([source]) => resource.problems[source] === problem)
        .map(([, target]) => resource.problems[target].title)
        .join(", "),
    },
  ]);
  return (
    <>
      <Graph
        name="Reductions"
        nodes={resource.problems.map((problem) => ({
          title: problem.title,
          lines: [
            problem.systems.length ? `systems: ${problem.systems.map(systemTitle).join(", ")}` : "",
            problem.datasets.length ? `datasets: ${problem.datasets.map(datasetName).join(", ")}` : "",
          ].filter(Boolean),
        }))}
        edges={resource.reductions}
      />
      <p class="quiet prose">
        An arrow leads from a problem to an easier one: simplified predictions for the first problem solve the second.
        Karat infers the problem of a system or dataset from its annotations.
      </p>
      <Sheet
        name="Problems"
        columns={[{ title: "problem" }, { title: "systems" }, { title: "datasets" }, { title: "reduces to" }]}
        rows={rows}
      />
    </>
  );
}

/** A text with brackets around annotations and superscripts for systems. */
function TextFigure() {
  const dataset = getSelectedDataset((item) => item.cases && item.texts)!;
  if (!dataset.cases || !dataset.texts)
    return (
      <>
        <Toolbar>
          <FigureSelect />
        </Toolbar>
        <NoCases />
      </>
    );
  return (
    <Loader state={useData(dataset.key)}>
      {(data) => <Superscripts key={dataset.key} data={data} dataset={dataset.key} />}
    </Loader>
  );
}

const SIGNS: Record<number, string> = { [CORRECT_LINK]: "", [WRONG_LINK]: "×", [SPURIOUS_PREDICTION]: "?" };

/** Format the numbers of the systems that annotate a region, each with the sign of its best outcome. */
function formatSigns(bars: readonly { track: number; kind: number }[]): string {
  const bestKinds = new Map<number, number>();
  for (const { track, kind } of bars) bestKinds.set(track, Math.min(kind, bestKinds.get(track) ?? kind));
  return [...bestKinds]
    .sort((a, b) => a[0] - b[0])
    .map(([track, kind]) => `${track + 1}${SIGNS[kind] ?? "~"}`)
    .join(" ");
}

function Superscripts({ data, dataset }: { data: Data; dataset: string }) {
  const queryDoc = data.findDocument(route.value.query.doc ?? ""),
    doc = Math.max(queryDoc, 0);
  const tracks = getVisibleTracks(data),
    texts = useTexts(dataset, data, [doc]);
  const regions = useMemo(() => findRegions(data, doc, tracks), [data, doc, tracks.join(",")]);
  const id = data.resource.documents[doc].id;
  return (
    <>
      <h1 dir="auto">{data.getTitle(doc)}</h1>
      <Toolbar>
        <FigureSelect />
        <DatasetSelect predicate={(item) => item.cases && item.texts} />
        <Select
          label="document"
          name="doc"
          value={id}
          options={data.resource.documents.map((document, index) => [document.id, data.getTitle(index)])}
        />
        <HiddenSystems />
      </Toolbar>
      <ol class="numbered">
        {tracks.map((t) => (
          <li key={t}>{systemTitle(data.tracks[t].system)}</li>
        ))}
      </ol>
      <p class="quiet">
        [Brackets] mark gold mentions and predictions. Superscripts are the numbers of the systems with a correct link;
        × marks a wrong link, ~ a wrong span and ? a spurious prediction.
      </p>
      <Loader state={texts}>
        {(textsByDoc) => (
          <div class="document" dir="auto">
            {(textsByDoc.get(doc) ?? []).map((stretch) => {
              const nodes = [];
              let offset = stretch.start;
              for (const region of regions) {
                if (region.start < offset || region.end > stretch.end) continue;
                const bars = region.bars.filter(
                  (bar) => bar.track >= 0 && bar.kind !== MISSED_MENTION && bar.kind !== UNCOUNTED_CASE,
                );
                const isGold = region.bars.some((bar) => bar.track < 0);
                if (!bars.length && !isGold) continue;
                nodes.push(stretch.slice(offset, region.start));
                nodes.push(
                  <a
                    key={region.start}
                    class="noted"
                    href={pageUrl("text", { dataset, doc: id, at: `${region.start}-${region.end}` })}
                  >
                    [{stretch.slice(region.start, region.end)}]<sup>{formatSigns(bars) || "–"}</sup>
                  </a>,
                );
                offset = region.end;
              }
              nodes.push(stretch.slice(offset, stretch.end));
              return <p key={stretch.start}>{nodes}</p>;
            })}
          </div>
        )}
      </Loader>
    </>
  );
}

function Verdicts() {
  const dataset = getSelectedDataset((item) => item.credits)!;
  const state = useResource(
    () =>
      dataset.credits
        ? resources.loadResource("credits", dataset.key)
        : Promise.reject(
            new Error("No verdicts: they need predictions with mentions, scored under Karat's own profile."),
          ),
    dataset.key,
  );
  const dataState = useData(dataset.key);
  if (!dataset.cases)
    return (
      <>
        <Toolbar>
          <FigureSelect />
          <DatasetSelect />
        </Toolbar>
        <NoCases />
      </>
    );
  return (
    <Loader state={dataState}>
      {(data) => (
        <Loader state={state}>
          {(resource) => <VerdictReport data={data} resource={resource} dataset={dataset.key} />}
        </Loader>
      )}
    </Loader>
  );
}

/** Predictions with their credit under several credit rules. */
function VerdictReport({ data, resource, dataset }: { data: Data; resource: CreditsResource; dataset: string }) {
  const { query } = route.value;
  const visibleSystems = getVisibleTracks(data).map((t) => data.tracks[t].system);
  const tracks = resource.tracks.filter(
    (track) => visibleSystems.includes(track.system) && (!query.system || systemName(track.system) === query.system),
  );
  const rules = resource.rules.map((rule, index) => ({ ...rule, index })).filter((rule) => rule.refusal === null);
  const getCredits = (track: (typeof tracks)[0], row: number) => rules.map((rule) => track.credits[rule.index][row]);
  const findTrack = (system: number) => data.tracks.findIndex((track) => track.system === system);
  const meanRows = tracks.map((track): Cell[] => [
    {
      text: systemTitle(track.system),
      content: (
        <a href={pageUrl("figures", { show: "verdicts", dataset, system: systemName(track.system) })}>
          {systemTitle(track.system)}
        </a>
      ),
    },
    ...rules.map((rule): Cell => {
      const credits = track.credits[rule.index].filter((value) => value !== null);
      return {
        text: credits.length ? formatPercent(credits.reduce((sum, value) => sum + value, 0) / credits.length) : "–",
      };
    }),
  ]);
  const differences = tracks
    .flatMap((track) =>
      track.credits[0].flatMap((_, row) => {
        const credits = getCredits(track, row).filter((value) => value !== null);
        return credits.length > 1 && Math.max(...credits) - Math.min(...credits) > 1e-9
          ? [{ track, t: findTrack(track.system), row }]
          : [];
      }),
    )
    .sort((a, b) => data.compareCases({ track: a.t, row: a.row }, { track: b.t, row: b.row }));
  const visibleItems = differences.slice(0, getRowLimit());
  const texts = useTexts(
    dataset,
    data,
    visibleItems.map(({ t, row }) => data.tracks[t].document[row]),
  );
  const rows = visibleItems.map(({ track, t, row }): Cell[] => {
    const g = data.tracks[t].gold[row],
      doc = data.tracks[t].document[row],
      [start, end] = data.getSpan({ track: t, row });
    const gold = g < 0 ? null : data.resource.gold.entity[g];
    return [
      {
        text: data.getSurface({ track: t, row }),
        content: (
          <a
            class="plain"
            href={pageUrl("text", { dataset, doc: data.resource.documents[doc].id, at: `${start}-${end}` })}
          >
            <MentionContext
              stretches={texts.value?.get(doc)}
              start={start}
              end={end}
              surface={data.getSurface({ track: t, row })}
            />
          </a>
        ),
      },
      { text: systemTitle(track.system) },
      {
        text: data.resource.kinds[data.tracks[t].kind[row]],
        content: <KindLabel data={data} kind={data.tracks[t].kind[row]} />,
      },
      {
        text: gold === null ? "" : data.getName(gold),
        content:
          gold === null ? (
            <span class="quiet">no gold mention</span>
          ) : (
            <EntityLink data={data} entity={gold} dataset={dataset} />
          ),
      },
      {
        text: data.getName(data.tracks[t].entity[row]),
        content: <EntityLink data={data} entity={data.tracks[t].entity[row]} dataset={dataset} />,
      },
      ...getCredits(track, row).map(
        (value): Cell => ({ text: value === null ? "–" : formatPercent(value, 0), heat: value ?? undefined }),
      ),
    ];
  });
  const ruleColumns = rules.map(
    (rule): Column => ({
      title: rule.title,
      kind: "number",
      content: <span title={`${rule.description} (${rule.profile}, ${rule.view})`}>{rule.title}</span>,
    }),
  );
  return (
    <>
      <h1 class="summary">
        <b>{formatNumber(differences.length)}</b> predictions receive different credit under different rules.
      </h1>
      <Toolbar>
        <FigureSelect />
        <DatasetSelect predicate={(item) => item.credits} />
        <Select
          label="system"
          name="system"
          value={query.system ?? ""}
          options={[
            ["", "all systems"],
            ...resource.tracks.map((track) => [systemName(track.system), systemTitle(track.system)] as const),
          ]}
        />
        <HiddenSystems />
      </Toolbar>
      <Sheet name="Mean credit" columns={[{ title: "mean credit" }, ...ruleColumns]} rows={meanRows} />
      <ul class="quiet prose">
        {resource.rules.map((rule) => (
          <li key={rule.name}>
            <b>{rule.title}</b>: {rule.refusal === null ? rule.description : `not available: ${rule.refusal}`}
          </li>
        ))}
      </ul>
      {differences.length > 0 ? (
        <>
          <h2>Predictions with different credit</h2>
          <Sheet
            name="Verdicts"
            columns={[
              { title: "mention in context" },
              { title: "system" },
              { title: "outcome", isMinor: true },
              { title: "gold" },
              { title: "prediction" },
              ...ruleColumns,
            ]}
            rows={rows}
          />
          <MoreLink count={visibleItems.length} total={differences.length} unit="predictions" />
        </>
      ) : (
        <EmptyState message="All rules give each prediction the same credit." />
      )}
    </>
  );
}

export const PAGE: Page = { title: "Figures", group: "Results", position: 40, Content: Figures };

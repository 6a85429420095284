// Flips: mentions that only one of two systems links correctly.

import {
  DatasetSelect,
  EmptyState,
  EntityLink,
  formatCount,
  formatHidden,
  formatNumber,
  formatPercent,
  GoldEntities,
  getRowLimit,
  getSelectedDataset,
  getVisibleTracks,
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
  useTexts,
} from "../components";
import { countItems, type Data, UNCOUNTED_CASE } from "../data";
import { measureTitle } from "../measures";
import type { Page } from "../page";
import { currentUrl, pageUrl, route } from "../route";
import { type Cell, type Column, Sheet } from "../sheet";
import { NoCases } from "./cases";

export function Flips() {
  const dataset = getSelectedDataset((item) => item.cases)!;
  if (!dataset.cases)
    return (
      <>
        <Toolbar>
          <DatasetSelect />
        </Toolbar>
        <NoCases />
      </>
    );
  return (
    <Loader state={useData(dataset.key)}>
      {(data) =>
        data.tracks.length < 2 ? (
          <EmptyState
            isHeading
            message="The report contains one system. Pass the predictions of a second system:"
            command="karat report --gold GOLD FIRST SECOND --to html --out report.html"
          />
        ) : (
          <FlipReport data={data} dataset={dataset.key} />
        )
      }
    </Loader>
  );
}

/** Scores and outcomes of both systems. */
function ScoreTable({ data, dataset, tracks }: { data: Data; dataset: string; tracks: readonly number[] }) {
  const leaderboard = leaderboardState.value!,
    datasetIndex = leaderboard.datasets.findIndex((item) => item.key === dataset);
  const tables = leaderboard.tables.filter(
    (table) =>
      table.profile === leaderboard.profile &&
      ["micro.p", "micro.r", "micro.f1"].some((name) => table.measure === `${data.resource.view}:${name}`),
  );
  const kinds = data.resource.kinds
    .map((kind, index) => ({ kind, index }))
    .filter(({ index }) => index !== UNCOUNTED_CASE);
  const columns: Column[] = [
    { title: "system" },
    ...tables.map((table): Column => ({ title: measureTitle(table.measure), kind: "number" })),
    ...kinds.map(({ kind }): Column => ({ title: kind, kind: "number" })),
  ];
  const rows = tracks.map((t): Cell[] => {
    const track = data.tracks[t],
      counts = new Map(countItems(track.kind));
    return [
      { text: systemTitle(track.system) },
      ...tables.map(
        (table): Cell => ({
          text: formatPercent(table.value[datasetIndex][track.system]),
          content: (
            <a href={pageUrl("cases", { dataset, system: systemName(track.system) })}>
              <span class="figure">{formatPercent(table.value[datasetIndex][track.system])}</span>
            </a>
          ),
        }),
      ),
      ...kinds.map(
        ({ kind, index }): Cell => ({
          text: formatNumber(counts.get(index) ?? 0),
          content: (
            <a href={pageUrl("cases", { dataset, system: systemName(track.system), kind })}>
              {formatNumber(counts.get(index) ?? 0)}
            </a>
          ),
        }),
      ),
    ];
  });
  return <Sheet name="Both systems" columns={columns} rows={rows} canCopy={false} />;
}

const DEFAULT_ROWS = 20; // groups

const GROUPS: readonly (readonly [string, string])[] = [
  ["error", "by error category"],
  ["outcome", "by outcome of the other system"],
  ["entity", "by entity"],
  ["surface", "by surface"],
  ["type", "by type"],
  ["doc", "by document"],
];

function FlipReport({ data, dataset }: { data: Data; dataset: string }) {
  const { query } = route.value;
  const findTrack = (name: string | undefined, fallback: number) => {
    const index = data.tracks.findIndex((track) => systemName(track.system) === name);
    return index < 0 ? fallback : index;
  };
  const visibleTracks = getVisibleTracks(data),
    defaultTracks = visibleTracks.length > 1 ? visibleTracks : data.tracks.map((_, t) => t);
  const trackA = findTrack(query.one, defaultTracks[0]),
    trackB = findTrack(query.two, defaultTracks.find((t) => t !== trackA)!);
  const [titleA, titleB] = [trackA, trackB].map((t) => systemTitle(data.tracks[t].system));
  const { exclusiveMentions, bothCount, neitherCount } = data.compareTracks(trackA, trackB);
  const groupBy = GROUPS.some(([key]) => key === query.by) ? query.by : "error";
  const { gold } = data.resource;
  const groupValues = (g: number, loserTrack: number): string[] => {
    const row = data.rowByGold[loserTrack][g];
    switch (groupBy) {
      case "error":
        return data.getErrors({ track: loserTrack, row }).length
          ? data.getErrors({ track: loserTrack, row })
          : ["none"];
      case "outcome":
        return [data.resource.kinds[data.tracks[loserTrack].kind[row]]];
      case "entity":
        return [data.getId(gold.entity[g])];
      case "surface":
        return [data.getGoldSurface(g)];
      case "type":
        return data.resource.types[gold.types[g]].length ? data.resource.types[gold.types[g]] : ["none"];
      default:
        return [data.resource.documents[gold.document[g]].id];
    }
  };
  const tallies = [
    countItems(exclusiveMentions[0].flatMap((g) => groupValues(g, trackB))),
    countItems(exclusiveMentions[1].flatMap((g) => groupValues(g, trackA))),
  ].map((counts) => new Map(counts));
  const groups = [...new Set([...tallies[0].keys(), ...tallies[1].keys()])]
    .map((value) => ({ value, countA: tallies[0].get(value) ?? 0, countB: tallies[1].get(value) ?? 0 }))
    .sort((a, b) => b.countA + b.countB - a.countA - a.countB);
  const maxCount = Math.max(1, ...groups.flatMap((group) => [group.countA, group.countB]));
  const groupTitle = (value: string) =>
    groupBy === "entity"
      ? data.findName(value)
      : groupBy === "doc"
        ? data.getTitle(data.findDocument(value))
        : groupBy === "error"
          ? value === "none"
            ? "no category"
            : data.getCategory(value).title
          : value;
  const flipsUrl = (value: string, side: string) =>
    pageUrl("flips", {
      dataset,
      one: systemName(data.tracks[trackA].system),
      two: systemName(data.tracks[trackB].system),
      by: groupBy,
      value,
      side,
    });
  const otherSystems = leaderboardState
    .value!.systems.map((_, system) => system)
    .filter((system) => ![trackA, trackB].some((t) => data.tracks[t].system === system));
  const coverageLink = (coverage: string, count: number) => (
    <a
      href={pageUrl("cases", {
        dataset,
        system: systemName(data.tracks[trackA].system),
        who: coverage,
        hide: formatHidden(otherSystems),
      })}
    >
      {formatNumber(count)}
    </a>
  );
  const countBar = (count: number, side: string, value: string) => (
    <a class={`filled ${side}`} href={flipsUrl(value, side)}>
      <span class="room">
        <span class={count ? "fill" : "fill none"} style={{ width: `${(100 * count) / maxCount}%` }} />
      </span>
      <span class="figure">{formatNumber(count)}</span>
    </a>
  );
  const groupColumns: Column[] = [
    { title: GROUPS.find(([key]) => key === groupBy)![1] },
    { title: `only ${titleA}`, kind: "number" },
    { title: `only ${titleB}`, kind: "number" },
    { title: "difference", kind: "number" },
  ];
  const mentions = [
    ...exclusiveMentions[0].map((g) => ({ g, side: "one" })),
    ...exclusiveMentions[1].map((g) => ({ g, side: "two" })),
  ]
    .filter(
      (item) =>
        (!query.side || item.side === query.side) &&
        (!query.value || groupValues(item.g, item.side === "one" ? trackB : trackA).includes(query.value)),
    )
    .sort((a, b) => a.g - b.g);
  const visibleMentions = mentions.slice(0, getRowLimit());
  const texts = useTexts(
    dataset,
    data,
    visibleMentions.map((item) => gold.document[item.g]),
  );
  const predictionCell = (t: number, g: number) => {
    const row = data.rowByGold[t][g],
      track = data.tracks[t];
    return {
      text: track.start[row] < 0 ? data.resource.kinds[track.kind[row]] : data.getName(track.entity[row]),
      content: (
        <>
          <KindLabel data={data} kind={track.kind[row]} />{" "}
          {track.start[row] >= 0 && track.kind[row] !== 0 && (
            <EntityLink data={data} entity={track.entity[row]} dataset={dataset} />
          )}
        </>
      ),
    };
  };
  const columns: Column[] = [
    { title: "mention" },
    { title: "gold" },
    { title: titleA },
    { title: titleB },
    { title: "document", isMinor: true },
  ];
  const rows = visibleMentions.map(({ g }): Cell[] => {
    const doc = gold.document[g];
    return [
      {
        text: data.getGoldSurface(g),
        content: (
          <a
            class="plain"
            href={pageUrl("text", {
              dataset,
              doc: data.resource.documents[doc].id,
              at: `${gold.start[g]}-${gold.end[g]}`,
              tracks: [trackA, trackB].map((t) => systemName(data.tracks[t].system)).join(","),
            })}
          >
            <MentionContext
              stretches={texts.value?.get(doc)}
              start={gold.start[g]}
              end={gold.end[g]}
              surface={data.getGoldSurface(g)}
            />
          </a>
        ),
      },
      { text: data.getName(gold.entity[g]), content: <GoldEntities data={data} mention={g} dataset={dataset} /> },
      predictionCell(trackA, g),
      predictionCell(trackB, g),
      {
        text: data.resource.documents[doc].id,
        content: (
          <span class="quiet" dir="auto">
            {data.getTitle(doc)}
          </span>
        ),
      },
    ];
  });
  const options = data.tracks.map((track) => [systemName(track.system), systemTitle(track.system)] as const);
  const [countA, countB] = exclusiveMentions.map((mentions) => mentions.length);
  const total = countA + countB + bothCount + neitherCount;
  return (
    <>
      <h1 class="summary">
        <b>{titleA}</b> alone links <a href={flipsUrl("", "one")}>{formatCount(countA, "mention")}</a> correctly,{" "}
        <b>{titleB}</b> alone <a href={flipsUrl("", "two")}>{formatNumber(countB)}</a>.{" "}
        <span class="quiet">
          Of {formatCount(total, "mention")}, both link {coverageLink("all", bothCount)} correctly (
          {formatPercent(bothCount / Math.max(total, 1))} %), and neither links {coverageLink("none", neitherCount)}.
        </span>
      </h1>
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <Select
          label="first system"
          name="one"
          value={systemName(data.tracks[trackA].system)}
          options={options}
          reset={{ value: "", side: "" }}
        />
        <Select
          label="second system"
          name="two"
          value={systemName(data.tracks[trackB].system)}
          options={options}
          reset={{ value: "", side: "" }}
        />
        <Select label="group" name="by" value={groupBy} options={GROUPS} reset={{ value: "", side: "" }} />
      </Toolbar>
      <ScoreTable data={data} dataset={dataset} tracks={[trackA, trackB]} />
      <h2>Mentions that only one system links correctly, {GROUPS.find(([key]) => key === groupBy)![1]}</h2>
      <Sheet
        name="Mentions by group"
        columns={groupColumns}
        rows={groups.slice(0, query.groups === "all" ? undefined : DEFAULT_ROWS).map((group): Cell[] => [
          {
            text: groupTitle(group.value),
            content: (
              <a href={flipsUrl(group.value, "")} dir="auto">
                {groupTitle(group.value)}
              </a>
            ),
          },
          { text: String(group.countA), content: countBar(group.countA, "one", group.value) },
          { text: String(group.countB), content: countBar(group.countB, "two", group.value) },
          {
            text:
              group.countA === group.countB
                ? "0"
                : `${group.countA < group.countB ? "−" : "+"}${Math.abs(group.countA - group.countB)}`,
          },
        ])}
      />
      {groups.length > DEFAULT_ROWS && (
        <p>
          <a href={currentUrl({ groups: query.groups === "all" ? "" : "all" })}>
            {query.groups === "all" ? "Show fewer" : `Show all ${formatNumber(groups.length)}`}
          </a>
        </p>
      )}
      <h2>
        {formatCount(mentions.length, "mention")}
        {query.value && (
          <>
            : {groupTitle(query.value)}{" "}
            <a class="aside" href={flipsUrl("", "")}>
              show all
            </a>
          </>
        )}
      </h2>
      <Sheet name="Flips" columns={columns} rows={rows} />
      <MoreLink count={visibleMentions.length} total={mentions.length} unit="mentions" />
    </>
  );
}

export const PAGE: Page = { title: "Flips", group: "Errors", position: 30, Content: Flips };

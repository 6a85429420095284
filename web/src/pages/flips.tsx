// Flips: mentions that only one of two systems links correctly, or that both link wrongly to different entities.

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
  WrongSpanNote,
} from "../components";
import { countItems, type Data, UNCOUNTED_CASE, WRONG_SPAN } from "../data";
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
  return (
    <>
      <Sheet name="Both systems" columns={columns} rows={rows} canCopy={false} />
      {tracks.some((t) => data.tracks[t].kind.includes(WRONG_SPAN)) && <WrongSpanNote />}
    </>
  );
}

const DEFAULT_ROWS = 20; // groups

const SIDE_TITLES: Record<string, (titleA: string, titleB: string) => string> = {
  one: (titleA) => `only ${titleA} links correctly`,
  two: (_, titleB) => `only ${titleB} links correctly`,
  both: () => "both link wrongly, to different entities",
};

const GROUPS: readonly (readonly [string, string])[] = [
  ["error", "by error category"],
  ["outcome", "by outcome of the other system"],
  ["entity", "by entity"],
  ["surface", "by surface"],
  ["type", "by type"],
  ["doc", "by document"],
];

/** Find the track of a system; `fallback` if it has none. */
export function findTrack(data: Data, name: string | undefined, fallback: number): number {
  const index = data.tracks.findIndex((track) => systemName(track.system) === name);
  return index < 0 ? fallback : index;
}

/** List the values of a mention by which its flip is grouped; `tracks` are the systems that link it wrongly. */
function listFlipValues(data: Data, groupBy: string, g: number, tracks: readonly number[]): string[] {
  const { gold } = data.resource;
  switch (groupBy) {
    case "error": {
      const errors = tracks.flatMap((track) => data.getErrors({ track, row: data.rowByGold[track][g] }));
      return errors.length ? [...new Set(errors)] : ["none"];
    }
    case "outcome":
      return [...new Set(tracks.map((t) => data.resource.kinds[data.tracks[t].kind[data.rowByGold[t][g]]]))];
    case "entity":
      return [data.getId(gold.entity[g])];
    case "surface":
      return [data.getGoldSurface(g)];
    case "type":
      return data.resource.types[gold.types[g]].length ? data.resource.types[gold.types[g]] : ["none"];
    default:
      return [data.resource.documents[gold.document[g]].id];
  }
}

/** The title of a group of flips. */
function flipGroupTitle(data: Data, groupBy: string, value: string): string {
  if (groupBy === "entity") return data.findName(value);
  if (groupBy === "doc") return data.getTitle(data.findDocument(value));
  if (groupBy === "error") return value === "none" ? "no category" : data.getCategory(value).title;
  return value;
}

/** Build the URL of the mentions of a group; a side is a system alone (one, two) or both systems, wrong (both). */
function flipsUrl(data: Data, dataset: string, tracks: readonly number[], by: string, value: string, side: string) {
  const [one, two] = tracks.map((t) => systemName(data.tracks[t].system));
  return pageUrl("flips", { dataset, one, two, by, value, side });
}

/** The numbers of flips by group, as bars that open their mentions. */
export function FlipGroups({
  data,
  dataset,
  tracks,
  groupBy,
}: {
  data: Data;
  dataset: string;
  tracks: readonly [number, number];
  groupBy: string;
}) {
  const { query } = route.value;
  const [trackA, trackB] = tracks,
    [titleA, titleB] = tracks.map((t) => systemTitle(data.tracks[t].system));
  const { exclusiveMentions, differentMentions } = data.compareTracks(trackA, trackB);
  const sides = [
    { name: "one", title: `only ${titleA} correct`, mentions: exclusiveMentions[0], wrongTracks: [trackB] },
    { name: "two", title: `only ${titleB} correct`, mentions: exclusiveMentions[1], wrongTracks: [trackA] },
    { name: "both", title: "both wrong, differently", mentions: differentMentions, wrongTracks: [trackA, trackB] },
  ];
  const tallies = sides.map(
    ({ mentions, wrongTracks }) =>
      new Map(countItems(mentions.flatMap((g) => listFlipValues(data, groupBy, g, wrongTracks)))),
  );
  const groups = [...new Set(tallies.flatMap((tally) => [...tally.keys()]))]
    .map((value) => ({ value, counts: tallies.map((tally) => tally.get(value) ?? 0) }))
    .sort((a, b) => b.counts[0] + b.counts[1] - a.counts[0] - a.counts[1] || b.counts[2] - a.counts[2]);
  const maxCount = Math.max(1, ...groups.flatMap(({ counts }) => counts));
  const columns: Column[] = [
    { title: GROUPS.find(([key]) => key === groupBy)![1] },
    ...sides.map(({ title }): Column => ({ title, kind: "number" })),
    { title: "difference", kind: "number", isMinor: true },
  ];
  const rows = groups.slice(0, query.groups === "all" ? undefined : DEFAULT_ROWS).map(({ value, counts }): Cell[] => [
    {
      text: flipGroupTitle(data, groupBy, value),
      content: (
        <a href={flipsUrl(data, dataset, tracks, groupBy, value, "")} dir="auto">
          {flipGroupTitle(data, groupBy, value)}
        </a>
      ),
    },
    ...counts.map(
      (count, index): Cell => ({
        text: String(count),
        content: (
          <a
            class={`filled ${sides[index].name}`}
            href={flipsUrl(data, dataset, tracks, groupBy, value, sides[index].name)}
          >
            <span class="room">
              <span class={count ? "fill" : "fill none"} style={{ width: `${(100 * count) / maxCount}%` }} />
            </span>
            <span class="figure">{formatNumber(count)}</span>
          </a>
        ),
      }),
    ),
    {
      text: counts[0] === counts[1] ? "0" : `${counts[0] < counts[1] ? "−" : "+"}${Math.abs(counts[0] - counts[1])}`,
    },
  ]);
  return (
    <>
      <Sheet name="Mentions by group" columns={columns} rows={rows} />
      {groups.length > DEFAULT_ROWS && (
        <p>
          <a href={currentUrl({ groups: query.groups === "all" ? "" : "all" })}>
            {query.groups === "all" ? "Show fewer" : `Show all ${formatNumber(groups.length)}`}
          </a>
        </p>
      )}
    </>
  );
}

/** A sentence on how often two systems are correct, with links to the mentions. */
export function FlipSummary({
  data,
  dataset,
  tracks,
}: {
  data: Data;
  dataset: string;
  tracks: readonly [number, number];
}) {
  const [titleA, titleB] = tracks.map((t) => systemTitle(data.tracks[t].system));
  const { exclusiveMentions, differentMentions, bothCount, neitherCount } = data.compareTracks(...tracks);
  const [countA, countB] = exclusiveMentions.map((mentions) => mentions.length);
  const total = countA + countB + bothCount + neitherCount,
    mentionsA = formatCount(countA, "mention");
  const sideLink = (side: string, text: string) => (
    <a href={flipsUrl(data, dataset, tracks, "error", "", side)}>{text}</a>
  );
  const otherSystems = leaderboardState
    .value!.systems.map((_, system) => system)
    .filter((system) => !tracks.some((t) => data.tracks[t].system === system));
  const coverageLink = (coverage: string, count: number) => (
    <a
      href={pageUrl("cases", {
        dataset,
        system: systemName(data.tracks[tracks[0]].system),
        who: coverage,
        hide: formatHidden(otherSystems),
      })}
    >
      {formatNumber(count)}
    </a>
  );
  return (
    <>
      <b>{titleA}</b> alone links {sideLink("one", mentionsA)} correctly, <b>{titleB}</b> alone{" "}
      {sideLink("two", formatNumber(countB))}.{" "}
      <span class="quiet">
        Of {formatCount(total, "mention")}, both link {coverageLink("all", bothCount)} correctly (
        {formatPercent(bothCount / Math.max(total, 1))} %), and neither links {coverageLink("none", neitherCount)}. Both
        link {sideLink("both", formatNumber(differentMentions.length))} wrongly, to different entities.
      </span>
    </>
  );
}

function FlipReport({ data, dataset }: { data: Data; dataset: string }) {
  const { query } = route.value;
  const visibleTracks = getVisibleTracks(data),
    defaultTracks = visibleTracks.length > 1 ? visibleTracks : data.tracks.map((_, t) => t);
  const trackA = findTrack(data, query.one, defaultTracks[0]),
    trackB = findTrack(data, query.two, defaultTracks.find((t) => t !== trackA)!);
  const tracks = [trackA, trackB] as const;
  const [titleA, titleB] = tracks.map((t) => systemTitle(data.tracks[t].system));
  const { exclusiveMentions, differentMentions } = data.compareTracks(trackA, trackB);
  const groupBy = GROUPS.some(([key]) => key === query.by) ? query.by : "error";
  const { gold } = data.resource;
  const wrongTracks: Record<string, number[]> = { one: [trackB], two: [trackA], both: [trackA, trackB] };
  const mentions = [
    ...exclusiveMentions[0].map((g) => ({ g, side: "one" })),
    ...exclusiveMentions[1].map((g) => ({ g, side: "two" })),
    ...differentMentions.map((g) => ({ g, side: "both" })),
  ]
    .filter(
      ({ g, side }) =>
        (query.side ? side === query.side : side !== "both") &&
        (!query.value || listFlipValues(data, groupBy, g, wrongTracks[side]).includes(query.value)),
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
              tracks: tracks.map((t) => systemName(data.tracks[t].system)).join(","),
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
  return (
    <>
      <h1 class="summary">
        <FlipSummary data={data} dataset={dataset} tracks={tracks} />
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
      <FlipGroups data={data} dataset={dataset} tracks={tracks} groupBy={groupBy} />
      <h2>
        {formatCount(mentions.length, "mention")}
        {query.side && ` that ${SIDE_TITLES[query.side]?.(titleA, titleB) ?? ""}`}
        {query.value && `: ${flipGroupTitle(data, groupBy, query.value)}`}
        {(query.value || query.side) && (
          <>
            {" "}
            <a class="aside" href={flipsUrl(data, dataset, tracks, groupBy, "", "")}>
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

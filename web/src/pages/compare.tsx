// Agreement between systems, by pair and by document.

import {
  DatasetSelect,
  formatCount,
  formatHidden,
  formatNumber,
  formatPercent,
  getRowLimit,
  getSelectedDataset,
  getVisibleSystems,
  getVisibleTracks,
  Loader,
  leaderboardState,
  MoreLink,
  MultiSelect,
  systemName,
  systemTitle,
  Toolbar,
  useData,
} from "../components";
import { CORRECT_LINK, type Data } from "../data";
import type { Page } from "../page";
import { pageUrl, updateQuery } from "../route";
import { type Cell, type Column, getSortOrder, rankRows, Sheet } from "../sheet";
import { NoCases } from "./cases";

export function Comparison() {
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
    <Loader state={useData(dataset.key)}>{(data) => <AgreementMatrix data={data} dataset={dataset.key} />}</Loader>
  );
}

/** A list of the systems that all pages show. */
export function SystemSelect() {
  const systems = leaderboardState.value!.systems.map((_, system) => system);
  return (
    <MultiSelect
      label="systems"
      options={systems.map((system) => [systemName(system), systemTitle(system)])}
      selection={getVisibleSystems().map(systemName)}
      onChange={(selection) =>
        updateQuery({
          hide: selection.length
            ? formatHidden(systems.filter((system) => !selection.includes(systemName(system))))
            : "",
        })
      }
    />
  );
}

function AgreementMatrix({ data, dataset }: { data: Data; dataset: string }) {
  const tracks = getVisibleTracks(data),
    systems = tracks.map((t) => data.tracks[t].system);
  const correctCounts = data.countCorrect(tracks),
    mentions = correctCounts.flatMap((count, g) => (count < 0 ? [] : [g]));
  const isCorrect = tracks.map((t) => mentions.map((g) => data.getKind(t, g) === CORRECT_LINK));
  const mentionCounts = mentions.map((g) => correctCounts[g]);
  const caseLink = (coverage: string, count: number, system = systems[0]) => (
    <a
      href={pageUrl("cases", {
        dataset,
        system: systemName(system),
        who: coverage,
        kind: coverage === "one" ? data.resource.kinds[CORRECT_LINK] : "",
      })}
    >
      {formatNumber(count)}
    </a>
  );
  const noneCount = mentionCounts.filter((count) => !count).length,
    allCount = mentionCounts.filter((count) => count === isCorrect.length).length;
  const columns: Column[] = [
    { title: "system" },
    ...systems.map((system): Column => ({ title: systemTitle(system), kind: "number" })),
    { title: "correct", kind: "number" },
    { title: "only this system", kind: "number" },
  ];
  const exclusiveCounts = isCorrect.map(
    (marks) => marks.filter((isHit, index) => isHit && mentionCounts[index] === 1).length,
  );
  const rows = systems.map((system, a): Cell[] => [
    { text: systemTitle(system) },
    ...systems.map((otherSystem, b): Cell => {
      if (a === b) return { text: "" };
      const union = mentions.filter((_, index) => isCorrect[a][index] || isCorrect[b][index]).length;
      const share = union
        ? mentions.filter((_, index) => isCorrect[a][index] && isCorrect[b][index]).length / union
        : 0;
      return {
        text: formatPercent(share, 0),
        heat: share,
        content: (
          <a class="plain" href={pageUrl("flips", { dataset, one: systemName(system), two: systemName(otherSystem) })}>
            {formatPercent(share, 0)}
          </a>
        ),
      };
    }),
    {
      text: formatNumber(isCorrect[a].filter(Boolean).length),
      content: (
        <a href={pageUrl("cases", { dataset, system: systemName(system), kind: data.resource.kinds[CORRECT_LINK] })}>
          {formatNumber(isCorrect[a].filter(Boolean).length)}
        </a>
      ),
    },
    { text: formatNumber(exclusiveCounts[a]), content: caseLink("one", exclusiveCounts[a], system) },
  ]);
  return (
    <>
      <h1 class="summary">
        Of {formatCount(mentions.length, "mention")},{" "}
        {tracks.length === 1 ? (
          <>
            {systemTitle(systems[0])} links <b>{caseLink("all", allCount)}</b> correctly
          </>
        ) : (
          <>
            {tracks.length === 2 ? "both" : `all ${tracks.length}`} systems link <b>{caseLink("all", allCount)}</b>{" "}
            correctly, {tracks.length === 2 ? "only one links" : "some but not all link"}{" "}
            <b>{caseLink("some", mentions.length - allCount - noneCount)}</b>, and none links{" "}
            <b>{caseLink("none", noneCount)}</b>
          </>
        )}
        .
      </h1>
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <SystemSelect />
      </Toolbar>
      <h2>Pairwise agreement</h2>
      <Sheet name="Agreement" columns={columns} rows={rows} />
      <p class="quiet prose">
        Jaccard index in percent: of the mentions that at least one of the two systems links correctly, the share that
        both link correctly. Select a value to see the flips between the two systems.
      </p>
      {tracks.length > 1 && (
        <DocumentTable
          data={data}
          dataset={dataset}
          tracks={tracks}
          mentions={mentions}
          mentionCounts={mentionCounts}
        />
      )}
    </>
  );
}

/** The documents, sorted by the number of mentions on which the systems differ. */
function DocumentTable({
  data,
  dataset,
  tracks,
  mentions,
  mentionCounts,
}: {
  data: Data;
  dataset: string;
  tracks: readonly number[];
  mentions: readonly number[];
  mentionCounts: readonly number[];
}) {
  const documents = new Map<number, { doc: number; total: number; differCount: number; correctCounts: number[] }>();
  mentions.forEach((g, index) => {
    const doc = data.resource.gold.document[g];
    const entry = documents.get(doc) ?? { doc, total: 0, differCount: 0, correctCounts: tracks.map(() => 0) };
    documents.set(doc, entry);
    entry.total++;
    if (mentionCounts[index] && mentionCounts[index] < tracks.length) entry.differCount++;
    tracks.forEach((t, index) => {
      if (data.getKind(t, g) === CORRECT_LINK) entry.correctCounts[index]++;
    });
  });
  const caseLink = (coverage: string, doc: number, count: number) => (
    <a
      class="plain"
      href={pageUrl("cases", {
        dataset,
        doc: data.resource.documents[doc].id,
        system: systemName(data.tracks[tracks[0]].system),
        who: coverage,
      })}
    >
      {formatNumber(count)}
    </a>
  );
  const { key } = getSortOrder();
  const sortIndex = tracks.findIndex((t) => systemName(data.tracks[t].system) === key);
  const docs = rankRows(
    [...documents.values()].sort((a, b) => b.differCount - a.differCount),
    (entry) =>
      key === "all" ? entry.total : sortIndex >= 0 ? entry.correctCounts[sortIndex] / entry.total : entry.differCount,
  );
  const columns: Column[] = [
    { title: "document" },
    { title: "mentions", kind: "number", sortKey: "all" },
    { title: "systems differ", kind: "number", sortKey: "split" },
    ...tracks.map(
      (t): Column => ({
        title: systemTitle(data.tracks[t].system),
        kind: "number",
        sortKey: systemName(data.tracks[t].system),
        isMinor: tracks.length > 3,
      }),
    ),
  ];
  const rows = docs.slice(0, getRowLimit()).map((entry): Cell[] => [
    {
      text: data.getTitle(entry.doc),
      content: (
        <a href={pageUrl("text", { dataset, doc: data.resource.documents[entry.doc].id })} dir="auto">
          {data.getTitle(entry.doc)}
        </a>
      ),
    },
    { text: formatNumber(entry.total), content: caseLink("counted", entry.doc, entry.total) },
    { text: formatNumber(entry.differCount), content: caseLink("some", entry.doc, entry.differCount) },
    ...entry.correctCounts.map(
      (count, index): Cell => ({
        text: formatPercent(count / entry.total, 0),
        heat: count / entry.total,
        content: (
          <a
            class="plain"
            href={pageUrl("cases", {
              dataset,
              doc: data.resource.documents[entry.doc].id,
              system: systemName(data.tracks[tracks[index]].system),
            })}
          >
            {formatPercent(count / entry.total, 0)}
          </a>
        ),
      }),
    ),
  ]);
  return (
    <>
      <h2>Agreement by document</h2>
      <p class="quiet prose">
        Number of mentions that count, number of mentions on which the systems differ, and each system's share of
        correct mentions in percent. A document opens with a track for each visible system.
      </p>
      <Sheet name="Agreement by document" columns={columns} rows={rows} />
      <MoreLink count={rows.length} total={docs.length} unit="documents" />
    </>
  );
}

export const PAGE: Page = { title: "Compare", group: "Results", position: 20, Content: Comparison };

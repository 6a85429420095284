// The documents of a dataset, with a track for the gold standard and for each system.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type HoverTarget, RegionCard } from "../card";
import {
  DatasetSelect,
  formatCount,
  formatNumber,
  formatPercent,
  getRowLimit,
  getSelectedDataset,
  getSystemNames,
  getVisibleTracks,
  HiddenSystems,
  KIND_CLASS,
  Loader,
  MoreLink,
  MultiSelect,
  pluralise,
  SearchField,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useData,
} from "../components";
import { type Case, CORRECT_LINK, compilePattern, type Data, UNCOUNTED_CASE } from "../data";
import { BarSample, DocumentPart, isPrinting, type Layout } from "../document";
import { MissingTarget } from "../missing";
import type { Page } from "../page";
import { findRegions, type Region } from "../regions";
import { pageUrl, route, updateQuery } from "../route";
import { isSettling, settle } from "../settling";
import { type Cell, type Column, getSortOrder, rankRows, Sheet } from "../sheet";
import { NoCases, parseFilter } from "./cases";

export function TextPage() {
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
      {(data) => {
        const { doc: id } = route.value.query;
        const doc = id === undefined ? -1 : data.findDocument(id);
        if (id && doc < 0)
          return (
            <MissingTarget
              targets={[`document “${id}” in ${dataset.name}`]}
              linkText="All documents"
              changes={{ dataset: dataset.key }}
            />
          );
        return doc < 0 ? (
          <DocumentList data={data} dataset={dataset.key} />
        ) : (
          <Reading key={dataset.key} data={data} dataset={dataset.key} doc={doc} />
        );
      }}
    </Loader>
  );
}

/** All documents, with each system's share of correct mentions. */
function DocumentList({ data, dataset }: { data: Data; dataset: string }) {
  const { query } = route.value;
  const test = query.find ? compilePattern(query.find) : () => true;
  const counts = data.tracks.map((_, t) => {
    const correctCounts: number[] = [],
      totals: number[] = [];
    data.resource.gold.document.forEach((doc, g) => {
      const kind = data.getKind(t, g);
      if (kind === UNCOUNTED_CASE) return;
      totals[doc] = (totals[doc] ?? 0) + 1;
      correctCounts[doc] = (correctCounts[doc] ?? 0) + (kind === CORRECT_LINK ? 1 : 0);
    });
    return { correctCounts, totals };
  });
  const visibleTracks = getVisibleTracks(data);
  const matches = data.resource.documents
    .map((_, doc) => doc)
    .filter((doc) => test(`${data.resource.documents[doc].id}\n${data.getTitle(doc)}`));
  const sortTrack = data.tracks.findIndex((track) => systemName(track.system) === getSortOrder().key);
  const correctShare = (t: number, doc: number) =>
    counts[t].totals[doc] ? counts[t].correctCounts[doc] / counts[t].totals[doc] : null;
  const docs =
    sortTrack >= 0
      ? rankRows(matches, (doc) => correctShare(sortTrack, doc))
      : getSortOrder().key === "mentions"
        ? rankRows(matches, (doc) => data.getMentions(doc).length)
        : matches;
  const columns: Column[] = [
    { title: "document" },
    { title: "characters", kind: "number", isMinor: true },
    { title: "mentions", kind: "number", sortKey: "mentions" },
    ...visibleTracks.map(
      (t): Column => ({
        title: systemTitle(data.tracks[t].system),
        kind: "number",
        sortKey: systemName(data.tracks[t].system),
        isMinor: visibleTracks.length > 2,
      }),
    ),
  ];
  const rows = docs.slice(0, getRowLimit()).map((doc): Cell[] => [
    {
      text: data.getTitle(doc),
      content: (
        <a href={pageUrl("text", { dataset, doc: data.resource.documents[doc].id })} dir="auto">
          {data.getTitle(doc)}
        </a>
      ),
    },
    { text: formatNumber(data.resource.documents[doc].length) },
    { text: formatNumber(data.getMentions(doc).length) },
    ...visibleTracks.map(
      (t): Cell => ({
        text: formatPercent(correctShare(t, doc), 0),
        heat: correctShare(t, doc) ?? undefined,
        content:
          correctShare(t, doc) === null ? undefined : (
            <a
              class="plain"
              href={pageUrl("cases", {
                dataset,
                doc: data.resource.documents[doc].id,
                system: systemName(data.tracks[t].system),
              })}
            >
              {formatPercent(correctShare(t, doc), 0)}
            </a>
          ),
      }),
    ),
  ]);
  return (
    <>
      <h1 class="summary">
        <b>{formatNumber(docs.length)}</b> {pluralise(docs.length, "document")}. Columns show each system's share of
        correct mentions in percent.
      </h1>
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <SearchField label="search" name="find" />
        {docs.length > 0 && (
          <a href={pageUrl("text", { dataset, doc: data.resource.documents[docs[0]].id })}>
            Read from the first document
          </a>
        )}
        <HiddenSystems />
      </Toolbar>
      <Sheet name="Documents" columns={columns} rows={rows} />
      <MoreLink count={rows.length} total={docs.length} unit="documents" />
    </>
  );
}

/** All documents in one scroll, from the one in the query. */
function Reading({ data, dataset, doc }: { data: Data; dataset: string; doc: number }) {
  const { query } = route.value;
  const { documents } = data.resource;
  const trackNames = query.tracks ? query.tracks.split(",") : null;
  const namedTracks = trackNames
    ? data.tracks.map((_, t) => t).filter((t) => trackNames.includes(systemName(data.tracks[t].system)))
    : [];
  const trackKey = (namedTracks.length ? namedTracks : getVisibleTracks(data)).join(",");
  const tracks = useMemo(() => trackKey.split(",").map(Number), [trackKey]);
  const isCompact = query.mode === "compact";
  const getRegions = useMemo(() => {
    const cache = new Map<number, Region[]>();
    return (index: number): Region[] => {
      const regions = cache.get(index) ?? findRegions(data, index, tracks);
      cache.set(index, regions);
      return regions;
    };
  }, [data, tracks]);
  const hover = useSignal<HoverTarget | null>(null);
  useSignalEffect(() => {
    if (route.value) hover.value = null;
  });
  const layout = useMemo(
    (): Layout => ({
      data,
      dataset,
      tracks,
      isCompact,
      correctCounts: data.countCorrect(tracks),
      onPoint: (doc, index, track = -1) => {
        hover.value = { doc, index, track };
      },
    }),
    [data, dataset, tracks, isCompact],
  );
  const regions = getRegions(doc);
  const [start, end] = (query.at || "-").split("-").map((text) => (text ? Number(text) : Number.NaN));
  const selectedIndex = query.at
    ? regions.findIndex((region) => region.start < Math.max(end, start + 1) && start < region.end)
    : -1;
  const filter = parseFilter(query);
  const isFiltered = Object.values(filter).some(Boolean);
  const cases = useMemo(
    () => (isFiltered ? data.filterCases(filter, getSystemNames(), getVisibleTracks(data)) : []),
    [data, JSON.stringify(filter), query.hide],
  );
  const getMarkedRegions = useMemo(() => makeMarkedRegions(data, cases, getRegions), [data, cases, getRegions]);
  const goToRegion = (direction: number) => {
    const offset = regions[selectedIndex]?.start ?? (Number.isFinite(start) ? start : null);
    const target = isFiltered
      ? findCase(data, cases, [doc, Number.isFinite(start) ? start : direction > 0 ? -1 : Infinity], direction)
      : findNeighbour(documents.length, getRegions, doc, offset, direction);
    if (target) updateQuery({ doc: documents[target.doc].id, at: `${target.start}-${target.end}` }, true);
  };
  // Synchronous, so that no key is lost between two regions.
  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      const target = event.target as Element;
      if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(target.tagName)) return;
      const direction = target.closest(".region") ? arrowDirection(event.key, target) : 0;
      if (direction) goToRegion(direction);
      else if (event.key === "n" || event.key === "j") goToRegion(1);
      else if (event.key === "p" || event.key === "k") goToRegion(-1);
      else if (event.key === "Escape") updateQuery({ at: "" }, true);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  });
  const flow = useRef<HTMLDivElement>(null);
  useScrolledDocument(flow, data, doc, selectedIndex >= 0);
  const markedCount = isFiltered ? getMarkedRegions(doc).size : 0;
  return (
    <div class="reading">
      <div class="page">
        <h1>
          Texts of {data.resource.dataset}{" "}
          <span class="aside quiet">
            {formatCount(documents.length, "document")}, {formatCount(data.resource.gold.start.length, "gold mention")}
          </span>
        </h1>
        {documents[doc].block < 0 && (
          <p class="quiet">This report contains no texts (--texts none). Regions are listed by their offsets.</p>
        )}
        <div class="tracks">
          <Toolbar>
            <a href={pageUrl("text", { dataset })}>document list</a>
            <DocumentSelect data={data} doc={doc} />
            <span class="steps">
              <button type="button" onClick={() => goToRegion(-1)}>
                previous <kbd>p</kbd>
              </button>
              <button type="button" onClick={() => goToRegion(1)}>
                next <kbd>n</kbd>
              </button>
            </span>
            <Select
              label="show"
              name="mode"
              value={isCompact ? "compact" : ""}
              options={[
                ["", "all tracks"],
                ["compact", "compact text"],
              ]}
            />
            <MultiSelect
              label="systems"
              options={data.tracks.map((track) => [systemName(track.system), systemTitle(track.system)])}
              selection={tracks.map((t) => systemName(data.tracks[t].system))}
              onChange={(names) => updateQuery({ tracks: names.join(",") }, true)}
            />
            <span class="quiet">
              {query.at && selectedIndex < 0 && `No region at ${query.at}. `}
              {isFiltered ? (
                <>
                  {formatCount(markedCount, "matching region")} in this document,{" "}
                  {formatCount(cases.length, "matching case")} in total.{" "}
                  <a
                    href={pageUrl("text", {
                      dataset,
                      doc: query.doc,
                      at: query.at,
                      tracks: query.tracks,
                      mode: query.mode,
                    })}
                  >
                    Clear filter
                  </a>
                </>
              ) : (
                formatCount(regions.length, "region")
              )}
            </span>
          </Toolbar>
          <Legend layout={layout} />
        </div>
        <div class="flow" ref={flow}>
          {documents.map((_, index) => (
            <DocumentPart
              key={index}
              doc={index}
              isCurrent={index === doc}
              layout={layout}
              getRegions={getRegions}
              selectedIndex={index === doc ? selectedIndex : -1}
              tabIndex={index === doc ? Math.max(0, selectedIndex) : -1}
              markedRegions={getMarkedRegions(index)}
            />
          ))}
        </div>
      </div>
      <RegionCard
        data={data}
        dataset={dataset}
        getRegions={getRegions}
        tracks={tracks}
        selection={{ doc, index: selectedIndex }}
        hover={hover}
      />
    </div>
  );
}

/** Get the direction in the text that an arrow key moves to, 0 for other keys. */
function arrowDirection(key: string, element: Element): number {
  const sign = getComputedStyle(element).direction === "rtl" ? -1 : 1;
  return key === "ArrowRight" ? sign : key === "ArrowLeft" ? -sign : 0;
}

interface Target {
  doc: number;
  start: number;
  end: number;
}

/** Find the next region after an offset or, if it is null, of a document; other documents follow. */
function findNeighbour(
  docCount: number,
  getRegions: (doc: number) => readonly Region[],
  doc: number,
  offset: number | null,
  direction: number,
): Target | undefined {
  const isAfter = (region: Region) => offset === null || region.start > offset;
  const isBefore = (region: Region) => offset !== null && region.start < offset;
  let region = direction > 0 ? getRegions(doc).find(isAfter) : getRegions(doc).findLast(isBefore);
  while (!region && docCount > doc + direction && doc + direction >= 0) {
    doc += direction;
    region = getRegions(doc).at(direction > 0 ? 0 : -1);
  }
  return region && { doc, start: region.start, end: region.end };
}

/** Find the next case from a position, a document and an offset; undefined if none is left. */
function findCase(
  data: Data,
  cases: readonly Case[],
  position: readonly [number, number],
  direction: number,
): Target | undefined {
  const compareCase = (item: Case) =>
    (data.tracks[item.track].document[item.row] - position[0] || data.getSpan(item)[0] - position[1]) * direction;
  const target =
    direction > 0 ? cases.find((item) => compareCase(item) > 0) : cases.findLast((item) => compareCase(item) > 0);
  if (!target) return undefined;
  const [start, end] = data.getSpan(target);
  return { doc: data.tracks[target.track].document[target.row], start, end };
}

const NO_REGIONS: ReadonlySet<number> = new Set();

/** Make a function that lists the regions of a document with cases of the filter. */
function makeMarkedRegions(
  data: Data,
  cases: readonly Case[],
  getRegions: (doc: number) => readonly Region[],
): (doc: number) => ReadonlySet<number> {
  const casesByDoc = new Map<number, Case[]>();
  for (const item of cases) {
    const doc = data.tracks[item.track].document[item.row];
    if (!casesByDoc.has(doc)) casesByDoc.set(doc, []);
    casesByDoc.get(doc)!.push(item);
  }
  const cache = new Map<number, ReadonlySet<number>>();
  return (doc) => {
    const docCases = casesByDoc.get(doc);
    if (!docCases) return NO_REGIONS;
    const findRegion = (item: Case) => {
      const [start, end] = data.getSpan(item);
      return getRegions(doc).findIndex((region) => region.start < end && start < region.end);
    };
    const marked = cache.get(doc) ?? new Set(docCases.map(findRegion));
    cache.set(doc, marked);
    return marked;
  };
}

const MAX_OPTIONS = 3000;

/** A list of the documents to go to; only the number of the document if there are very many. */
function DocumentSelect({ data, doc }: { data: Data; doc: number }) {
  const { documents } = data.resource;
  if (documents.length > MAX_OPTIONS)
    return (
      <span class="choice">
        document <b>{`${formatNumber(doc + 1)} of ${formatNumber(documents.length)}`}</b>
      </span>
    );
  return (
    <Select
      label="document"
      name="doc"
      value={documents[doc].id}
      options={documents.map(({ id }, index) => [id, data.getTitle(index)])}
      reset={{ at: "" }}
    />
  );
}

/** Measure the height of the bar above the documents, if it stays on the screen. */
function measureBar(flow: HTMLElement): number {
  const bar = flow.previousElementSibling as HTMLElement;
  return getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
}

/** Scroll to the document in the query, and keep the query up to date while the reader scrolls. */
function useScrolledDocument(
  flow: { readonly current: HTMLElement | null },
  data: Data,
  doc: number,
  hasSelection: boolean,
): void {
  const scrolledDoc = useRef(-1);
  useLayoutEffect(() => {
    const isScrolled = doc === scrolledDoc.current;
    scrolledDoc.current = doc;
    if (isScrolled || hasSelection) return;
    const content = flow.current!;
    if (doc === 0) scrollTo(0, 0);
    else settle(content, () => scrollBy(0, content.children[doc].getBoundingClientRect().top - measureBar(content)));
  }, [doc]);
  useEffect(() => {
    let frame = 0;
    const followScroll = () => {
      frame = 0;
      const parts = flow.current?.children;
      // A selection belongs to its document, which stays in the query; so does the document that is printed.
      if (!parts || hasSelection || isSettling() || isPrinting.peek()) return;
      const top = measureBar(flow.current!) + 16;
      let low = 0,
        high = parts.length - 1;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (parts[middle].getBoundingClientRect().top <= top) low = middle;
        else high = middle - 1;
      }
      if (low === scrolledDoc.current) return;
      scrolledDoc.current = low;
      updateQuery({ doc: data.resource.documents[low].id }, true);
    };
    const handleScroll = () => {
      frame ||= requestAnimationFrame(followScroll);
    };
    addEventListener("scroll", handleScroll, { passive: true });
    return () => {
      removeEventListener("scroll", handleScroll);
      cancelAnimationFrame(frame);
    };
  }, [data, hasSelection]);
}

/** The meaning of bars and colours. */
function Legend({ layout: { data, tracks, isCompact } }: { layout: Layout }) {
  return (
    <ul class="legend">
      {isCompact && (
        <>
          <li>
            systems that are correct:
            {[...new Set([0, Math.floor(tracks.length / 2), tracks.length])].map((count) => (
              <span key={count} class="letters shaded" style={{ "--share": (count / tracks.length).toFixed(3) }}>
                {count === tracks.length ? `all ${count}` : count === 0 ? "none" : count}
              </span>
            ))}
          </li>
          <li>
            <span class="letters uncounted">not counted</span>
          </li>
          <li>
            <span class="letters predicted">no gold mention</span>
          </li>
        </>
      )}
      {!isCompact && (
        <>
          <li>
            <BarSample kind="label" />
            gold
          </li>
          {data.resource.kinds.map((kind, index) => (
            <li key={kind}>
              <BarSample kind={KIND_CLASS[index]} />
              {kind}
            </li>
          ))}
        </>
      )}
    </ul>
  );
}

export const PAGE: Page = {
  title: "Texts",
  group: "Texts",
  position: 10,
  Content: TextPage,
  keys: [
    ["n j", "next region, or next case of the filter"],
    ["p k", "previous region or case"],
    ["← →", "from a region: previous and next region"],
    ["Esc", "clear the selection"],
  ],
};

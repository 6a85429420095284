// A document with a track for the gold standard and for each system.

import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { options } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  DatasetSelect,
  EntityLink,
  entityPageUrl,
  formatCount,
  formatNumber,
  formatPercent,
  getRowLimit,
  getSelectedDataset,
  getSystemNames,
  getVisibleTracks,
  HiddenSystems,
  KIND_CLASS,
  KindLabel,
  Loader,
  MoreLink,
  pluralise,
  SearchField,
  systemName,
  systemTitle,
  Toolbar,
  useData,
  useTexts,
} from "../components";
import { CORRECT_LINK, compilePattern, type Data, UNCOUNTED_CASE } from "../data";
import { MissingTarget } from "../missing";
import type { Page } from "../page";
import { findRegions, type Region, type Section, splitSections } from "../regions";
import { currentUrl, pageUrl, route, updateQuery } from "../route";
import { type Cell, type Column, getSortOrder, rankRows, Sheet } from "../sheet";
import { assignLevels, type Bar, type Stretch, splitColumns, type Column as TextColumn } from "../text";
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
          <DocumentPage key={`${dataset.key}:${doc}`} data={data} dataset={dataset.key} doc={doc} />
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
        <HiddenSystems />
      </Toolbar>
      <Sheet name="Documents" columns={columns} rows={rows} />
      <MoreLink count={rows.length} total={docs.length} unit="documents" />
    </>
  );
}

function DocumentPage({ data, dataset, doc }: { data: Data; dataset: string; doc: number }) {
  const { query } = route.value;
  const docInfo = data.resource.documents[doc];
  const texts = useTexts(dataset, data, [doc]);
  const trackNames = query.tracks ? query.tracks.split(",") : null;
  const selection = trackNames
    ? data.tracks.map((_, t) => t).filter((t) => trackNames.includes(systemName(data.tracks[t].system)))
    : [];
  const tracks = selection.length ? selection : getVisibleTracks(data);
  const key = tracks.join(",");
  const regions = useMemo(() => findRegions(data, doc, tracks), [data, doc, key]);
  const [start, end] = (query.at ?? "").split("-").map(Number);
  const selectedIndex = query.at
    ? regions.findIndex((region) => region.start < Math.max(end, start + 1) && start < region.end)
    : -1;
  const hoverIndex = useSignal(-1),
    hoverTrack = useSignal(-1);
  useSignalEffect(() => {
    if (route.value) hoverIndex.value = -1;
  });
  const filter = parseFilter(query);
  const isFiltered = Object.values(filter).some(Boolean);
  const cases = useMemo(
    () => (isFiltered ? data.filterCases(filter, getSystemNames(), getVisibleTracks(data)) : []),
    [data, JSON.stringify(filter)],
  );
  const goToRegion = (direction: number) => {
    const position = [doc, query.at ? start : direction > 0 ? -1 : Infinity];
    if (isFiltered) {
      const caseSpans = cases.map(
        (item) => [data.tracks[item.track].document[item.row], ...data.getSpan(item)] as const,
      );
      const comparePositions = (span: readonly number[]) => span[0] - position[0] || span[1] - position[1];
      const target =
        direction > 0
          ? caseSpans.find((span) => comparePositions(span) > 0)
          : caseSpans.findLast((span) => comparePositions(span) < 0);
      if (target) updateQuery({ doc: data.resource.documents[target[0]].id, at: `${target[1]}-${target[2]}` });
      return;
    }
    const target =
      direction > 0
        ? regions.find((region) => region.start > position[1])
        : regions.findLast((region) => region.start < position[1]);
    if (target) {
      updateQuery({ at: `${target.start}-${target.end}` }, true);
      return;
    }
    for (let next = doc + direction; data.resource.documents[next]; next += direction) {
      const region = findRegions(data, next, tracks).at(direction > 0 ? 0 : -1);
      if (region) {
        updateQuery({ doc: data.resource.documents[next].id, at: `${region.start}-${region.end}` });
        return;
      }
    }
  };
  // Synchronous, so that no key is lost between two regions.
  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        /INPUT|SELECT|TEXTAREA/.test((event.target as Element).tagName)
      )
        return;
      if (event.key === "n" || event.key === "j") goToRegion(1);
      else if (event.key === "p" || event.key === "k") goToRegion(-1);
      else if (event.key === "Escape") updateQuery({ at: "" }, true);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  });
  const markedRegions = useMemo(() => {
    const indexes = new Set<number>();
    for (const item of cases)
      if (data.tracks[item.track].document[item.row] === doc)
        indexes.add(
          regions.findIndex((region) => {
            const [start, end] = data.getSpan(item);
            return region.start < end && start < region.end;
          }),
        );
    return indexes;
  }, [cases, regions]);
  const note = isFiltered
    ? `${formatCount(markedRegions.size, "matching region")} in this document`
    : formatCount(regions.length, "region");
  return (
    <div class="reading">
      <div class="page">
        <h1 dir="auto">{data.getTitle(doc)}</h1>
        <Toolbar>
          <a href={pageUrl("text", { dataset })}>all documents</a>
          <span class="steps">
            <button type="button" onClick={() => goToRegion(-1)}>
              previous <kbd>p</kbd>
            </button>
            <button type="button" onClick={() => goToRegion(1)}>
              next <kbd>n</kbd>
            </button>
          </span>
          <span class="quiet">
            {query.at && selectedIndex < 0 && `No region at ${query.at}. `}
            {note}
            {isFiltered && (
              <>
                , {formatCount(cases.length, "matching case")} in total.{" "}
                <a href={pageUrl("text", { dataset, doc: docInfo.id, at: query.at, tracks: query.tracks })}>
                  Clear filter
                </a>
              </>
            )}
          </span>
        </Toolbar>
        <TrackSelect data={data} tracks={tracks} />
        {docInfo.block < 0 ? (
          <OffsetList regions={regions} />
        ) : (
          <Loader state={texts}>
            {(textsByDoc) => (
              <Sections
                data={data}
                stretches={textsByDoc.get(doc) ?? []}
                regions={regions}
                tracks={tracks}
                selectedIndex={selectedIndex}
                markedRegions={markedRegions}
                span={docInfo.span}
                onPoint={(index, track) => {
                  hoverIndex.value = index;
                  hoverTrack.value = track ?? -1;
                }}
              />
            )}
          </Loader>
        )}
      </div>
      <RegionCard
        data={data}
        dataset={dataset}
        doc={doc}
        regions={regions}
        tracks={tracks}
        selectedIndex={selectedIndex}
        hoverIndex={hoverIndex}
        hoverTrack={hoverTrack}
      />
    </div>
  );
}

/** A list of the tracks, with checkboxes and a legend. */
function TrackSelect({ data, tracks }: { data: Data; tracks: readonly number[] }) {
  const names = data.tracks.map((track) => systemName(track.system));
  const toggleTrack = (t: number) => {
    const selection = tracks.includes(t) ? tracks.filter((track) => track !== t) : [...tracks, t].sort((a, b) => a - b);
    updateQuery({ tracks: selection.map((track) => names[track]).join(",") }, true);
  };
  return (
    <details class="tracks" open={innerWidth > 600}>
      <summary>Tracks from the top: gold, {tracks.map((t) => systemTitle(data.tracks[t].system)).join(", ")}</summary>
      <ol>
        <li>gold</li>
        {data.tracks.map((track, t) => (
          <li key={t}>
            <label>
              <input type="checkbox" checked={tracks.includes(t)} onChange={() => toggleTrack(t)} />
              {tracks.includes(t) && <b>{tracks.indexOf(t) + 1}</b>} {systemTitle(track.system)}
            </label>
          </li>
        ))}
      </ol>
      <ul class="legend">
        {data.resource.kinds.map((kind, index) => (
          <li key={kind}>
            <BarSample kind={index} />
            {kind}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A sample bar for the legend. */
function BarSample({ kind }: { kind: number }) {
  return (
    <span class="sample" aria-hidden="true">
      <i class={`b ${KIND_CLASS[kind]} s e`} />
    </span>
  );
}

interface LayoutProps {
  data: Data;
  tracks: readonly number[];
  selectedIndex: number;
  markedRegions: ReadonlySet<number>;
  onPoint: (index: number, track?: number) => void;
}

function Sections({
  stretches,
  regions,
  span,
  ...layout
}: LayoutProps & { stretches: readonly Stretch[]; regions: readonly Region[]; span: [number, number] | null }) {
  const sections = useMemo(() => splitSections(stretches, regions), [stretches, regions]);
  const indexes = useMemo(() => new Map(regions.map((region, index) => [region, index])), [regions]);
  const trackHeights = useMemo(
    () =>
      assignLevels(
        regions.flatMap((region) => region.bars),
        layout.tracks.length,
      ),
    [regions],
  );
  if (!sections.length) return <p class="quiet">This report contains no part of this text.</p>;
  return (
    <div class="document" dir="auto">
      {sections.map((section, index) => (
        <LazySection
          key={index}
          section={section}
          indexes={indexes}
          trackHeights={trackHeights}
          span={span}
          isFirst={index === 0}
          {...layout}
        />
      ))}
    </div>
  );
}

/** Whether the page is being printed; then all sections are rendered at once. */
const isPrinting = signal(false);
const makePrintHandler = (value: boolean) => () => {
  const debounce = options.debounceRendering;
  options.debounceRendering = (render) => render();
  isPrinting.value = value;
  options.debounceRendering = debounce;
};
addEventListener("beforeprint", makePrintHandler(true));
addEventListener("afterprint", makePrintHandler(false));

/** A section that is rendered when it comes near; until then a placeholder has its approximate height. */
function LazySection({
  isFirst,
  ...props
}: LayoutProps & {
  section: Section;
  indexes: Map<Region, number>;
  trackHeights: number[];
  span: [number, number] | null;
  isFirst: boolean;
}) {
  const container = useRef<HTMLDivElement>(null);
  const isSelected = props.section.regions.some((region) => props.indexes.get(region) === props.selectedIndex);
  const [isNear, setNear] = useState(isFirst);
  useEffect(() => {
    if (isNear) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setNear(true),
      {
        rootMargin: "1500px",
      },
    );
    observer.observe(container.current!);
    return () => observer.disconnect();
  }, [isNear]);
  const isReady = isNear || isSelected || isPrinting.value;
  useEffect(() => {
    if (!isSelected) return;
    const element = container.current?.querySelector<HTMLElement>(".region.selected");
    if (!element) return;
    const box = element.getBoundingClientRect();
    const isNarrow = innerWidth <= 900; // the card covers the lower part
    if (box.top < 140 || box.bottom > innerHeight * (isNarrow ? 0.5 : 0.95))
      element.scrollIntoView({ block: isNarrow ? "start" : "center" });
    if (document.activeElement === document.body || document.activeElement?.classList.contains("region"))
      element.focus({ preventScroll: true });
  }, [props.selectedIndex, isSelected]);
  const height = Math.ceil((props.section.end - props.section.start) / 90) * (30 + 8 * props.tracks.length);
  return (
    <div ref={container} class="section" style={isReady ? undefined : { height: `${height}px` }}>
      {isReady && <SectionText {...props} />}
    </div>
  );
}

function SectionText({
  data,
  section,
  indexes,
  trackHeights,
  tracks,
  selectedIndex,
  markedRegions,
  span,
  onPoint,
}: LayoutProps & {
  section: Section;
  indexes: Map<Region, number>;
  trackHeights: number[];
  span: [number, number] | null;
}) {
  const nodes = [];
  let offset = section.start;
  const isUnscored = (position: number) => span !== null && (position < span[0] || position >= span[1]);
  const addText = (end: number) => {
    if (end <= offset) return;
    const borders = [offset, ...(span ?? []).filter((border) => border > offset && border < end), end];
    for (let index = 0; index + 1 < borders.length; index++)
      nodes.push(
        <span key={`t${borders[index]}`} class={isUnscored(borders[index]) ? "unscored" : undefined}>
          {section.stretch.slice(borders[index], borders[index + 1])}
        </span>,
      );
    offset = end;
  };
  if (section.hasGapBefore)
    nodes.push(
      <span key="cut" class="quiet">
        {" "}
        …{" "}
      </span>,
    );
  for (const region of section.regions) {
    addText(region.start);
    if (region.start < offset) continue;
    const index = indexes.get(region)!;
    nodes.push(
      <RegionColumns
        key={`s${region.start}`}
        data={data}
        region={region}
        stretch={section.stretch}
        trackHeights={trackHeights}
        tracks={tracks}
        index={index}
        isSelected={index === selectedIndex}
        isTabStop={index === Math.max(0, selectedIndex)}
        isMarked={markedRegions.has(index)}
        onPoint={onPoint}
      />,
    );
    offset = region.end;
  }
  addText(section.end);
  return <>{nodes}</>;
}

function RegionColumns({
  data,
  region,
  stretch,
  trackHeights,
  tracks,
  index,
  isSelected,
  isTabStop,
  isMarked,
  onPoint,
}: {
  data: Data;
  region: Region;
  stretch: Stretch;
  trackHeights: number[];
  tracks: readonly number[];
  index: number;
  isSelected: boolean;
  /** Whether the tab key reaches the region; only one of a long text does, and n and p go on from there. */
  isTabStop: boolean;
  isMarked: boolean;
  onPoint: (index: number, track?: number) => void;
}) {
  const borders = new Set(region.bars.flatMap((bar) => [bar.start, bar.end]));
  const columns = splitColumns(stretch, region.start, region.end, borders);
  const groups: (typeof columns)[] = [];
  for (const column of columns) column.canBreak || !groups.length ? groups.push([column]) : groups.at(-1)!.push(column);
  return (
    <a
      class={`region${isSelected ? " selected" : ""}${isMarked ? " marked" : ""}`}
      href={currentUrl({ at: `${region.start}-${region.end}` })}
      aria-label={describeRegion(data, region, tracks, stretch)}
      aria-current={isSelected ? "true" : undefined}
      tabIndex={isTabStop ? 0 : -1}
      onMouseOver={(event) =>
        onPoint(index, Number((event.target as Element).closest<HTMLElement>(".track")?.dataset.track ?? -1))
      }
      onFocus={() => onPoint(index)}
      onClick={(event) => {
        event.preventDefault();
        updateQuery({ at: `${region.start}-${region.end}` }, true);
      }}
    >
      {groups.map((group) => (
        <span class="unbroken" key={group[0].start}>
          {group.map((column) => (
            <span class="column" key={column.start}>
              <span class="letters">{column.text}</span>
              {trackHeights.map((rows, track) => (
                <span
                  class={track === 0 ? "track gold" : "track"}
                  data-track={track - 1}
                  key={track}
                  title={track === 0 ? "gold" : systemTitle(data.tracks[tracks[track - 1]].system)}
                >
                  {Array.from({ length: rows }, (_, level) => {
                    const bar = region.bars.find(
                      (item) =>
                        item.track === track - 1 &&
                        item.level === level &&
                        item.start < column.end &&
                        column.start < item.end,
                    );
                    return <i key={level} class={bar ? barClass(bar, column) : "b"} />;
                  })}
                </span>
              ))}
            </span>
          ))}
        </span>
      ))}
    </a>
  );
}

/** Build the class of a bar within a column, with its start and its end. */
function barClass(bar: Bar, column: TextColumn): string {
  const ends = `${bar.start >= column.start ? " s" : ""}${bar.end <= column.end ? " e" : ""}`;
  return `b ${KIND_CLASS[bar.kind]}${ends}`;
}

/** Describe a region for screen readers. */
function describeRegion(data: Data, region: Region, tracks: readonly number[], stretch: Stretch): string {
  const gold = region.bars
    .filter((bar) => bar.track < 0)
    .map((bar) => `gold ${data.getName(data.resource.gold.entity[bar.row])}`);
  const predictions = region.bars
    .filter((bar) => bar.track >= 0)
    .map((bar) => `${systemTitle(data.tracks[tracks[bar.track]].system)} ${data.resource.kinds[bar.kind]}`);
  return `${stretch.slice(region.start, region.end)}: ${[...gold, ...predictions].join(", ")}`;
}

/** The offsets of the regions, for reports without texts. */
function OffsetList({ regions }: { regions: readonly Region[] }) {
  return (
    <div class="bare">
      <p class="quiet">This report contains no texts (--texts none). Regions are listed by their offsets.</p>
      <p>
        {regions.map((region, index) => (
          <>
            <a key={region.start} tabIndex={index ? -1 : 0} href={currentUrl({ at: `${region.start}-${region.end}` })}>
              {region.start}–{region.end}
            </a>{" "}
          </>
        ))}
      </p>
    </div>
  );
}

/** The card of the region under the pointer, or of the selected region. */
function RegionCard({
  data,
  dataset,
  doc,
  regions,
  tracks,
  selectedIndex,
  hoverIndex,
  hoverTrack,
}: {
  data: Data;
  dataset: string;
  doc: number;
  regions: readonly Region[];
  tracks: readonly number[];
  selectedIndex: number;
  hoverIndex: { value: number };
  hoverTrack: { value: number };
}) {
  const region = regions[hoverIndex.value >= 0 ? hoverIndex.value : selectedIndex];
  if (!region)
    return (
      <aside class="card" aria-label="Region details">
        <p class="quiet">
          Hover over a bar, or press <kbd>n</kbd> for the next region.
        </p>
      </aside>
    );
  const { gold } = data.resource;
  const goldRows = region.bars.filter((bar) => bar.track < 0).map((bar) => bar.row);
  const goldTypes = (g: number) => data.resource.types[gold.types[g]];
  return (
    <aside class="card" aria-label="Region details">
      <button type="button" class="close" onClick={() => updateQuery({ at: "" }, true)}>
        close
      </button>
      {goldRows.map((g) => (
        <section key={g}>
          <h2 dir="auto">{data.getGoldSurface(g)}</h2>
          <p>
            gold: <EntityDetails data={data} entity={gold.entity[g]} dataset={dataset} showDescription />
            {gold.optional[g] ? <span class="quiet"> (optional)</span> : null}
            {(gold.alternatives[g] ?? []).map((alternative) => (
              <>
                <span class="quiet"> or </span>
                <EntityDetails key={alternative} data={data} entity={alternative} dataset={dataset} showDescription />
              </>
            ))}
          </p>
          {goldTypes(g).length > 0 && <p class="quiet">{goldTypes(g).join(", ")}</p>}
        </section>
      ))}
      {!goldRows.length && (
        <section>
          <h2 dir="auto">{data.getSurface({ track: tracks[region.bars[0].track], row: region.bars[0].row })}</h2>
          <p class="quiet">No mention in the gold standard.</p>
        </section>
      )}
      <ul class="predictions">
        {tracks.map((t, index) => {
          const track = data.tracks[t];
          const rows = data.getRows(t, doc).filter((row) => {
            const [start, end] = data.getSpan({ track: t, row });
            return start < region.end && region.start < end;
          });
          return (
            <li key={t} class={hoverTrack.value === index ? "now" : undefined}>
              <b>
                <span class="quiet">{index + 1}</span> {systemTitle(track.system)}
              </b>
              {!rows.length && <p class="quiet">no prediction</p>}
              {rows.map((row) => {
                const errors = data.getErrors({ track: t, row });
                const hasPrediction = track.start[row] >= 0;
                return (
                  <p key={row}>
                    <BarSample kind={track.kind[row]} /> <KindLabel data={data} kind={track.kind[row]} />{" "}
                    {hasPrediction && (
                      <>
                        {goldRows.length !== 1 ||
                        track.start[row] !== gold.start[goldRows[0]] ||
                        track.end[row] !== gold.end[goldRows[0]] ? (
                          <span class="quiet" dir="auto">
                            “{data.getSurface({ track: t, row })}”{" "}
                          </span>
                        ) : null}
                        <EntityDetails
                          data={data}
                          entity={track.entity[row]}
                          dataset={dataset}
                          showDescription={!goldRows.some((g) => gold.entity[g] === track.entity[row])}
                        />
                      </>
                    )}
                    {track.score.length > 0 && track.score[row] !== null && (
                      <span class="quiet">, score {track.score[row]}</span>
                    )}
                    {track.candidates.length > 0 &&
                      track.candidates[row] > 0 &&
                      hasPrediction &&
                      track.gold[row] >= 0 && (
                        <span class="quiet">
                          , {track.candidates[row]} candidate{track.candidates[row] === 1 ? "" : "s"},{" "}
                          {track.rank[row] ? `gold entity at rank ${track.rank[row]}` : "gold entity not among them"}
                        </span>
                      )}
                    {errors.length > 0 && (
                      <span class="errors">
                        {errors.map((error) => (
                          <a
                            key={error}
                            href={pageUrl("cases", { dataset, system: systemName(track.system), error })}
                            title={data.getCategory(error).description}
                          >
                            {data.getCategory(error).title}
                          </a>
                        ))}{" "}
                        <span class="quiet">{data.getCategory(errors[1] ?? errors[0]).description}</span>
                      </span>
                    )}
                  </p>
                );
              })}
            </li>
          );
        })}
      </ul>
      {goldRows.length > 0 && (
        <p>
          <a href={pageUrl("mention", { dataset, surface: data.getGoldSurface(goldRows[0]) })}>
            All mentions of “{data.getGoldSurface(goldRows[0])}”
          </a>
        </p>
      )}
    </aside>
  );
}

/** A link to an entity, with its id and optionally its description. */
function EntityDetails({
  data,
  entity,
  dataset,
  showDescription,
}: {
  data: Data;
  entity: number;
  dataset: string;
  showDescription?: boolean;
}) {
  const url = entity >= 0 ? entityPageUrl(data.getId(entity)) : null;
  return (
    <>
      <EntityLink data={data} entity={entity} dataset={dataset} showId={false} />
      {entity >= 0 && data.getName(entity) !== data.getId(entity) && (
        <span class="quiet id">
          {" "}
          {url ? (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {data.getId(entity)}
            </a>
          ) : (
            data.getId(entity)
          )}
        </span>
      )}
      {showDescription && data.getDescription(entity) && (
        <span class="quiet" dir="auto">
          , {data.getDescription(entity)}
        </span>
      )}
    </>
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
    ["Esc", "clear the selection"],
  ],
};

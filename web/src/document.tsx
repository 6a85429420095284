// The text of a document, with a track for the gold standard and for each system.

import { signal } from "@preact/signals";
import { options } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatNumber, KIND_CLASS, Loader, systemTitle, useTexts } from "./components";
import { type Data, UNCOUNTED_CASE } from "./data";
import { type Region, type Section, splitSections } from "./regions";
import { currentUrl, updateQuery } from "./route";
import { settle } from "./settling";
import { type Bar, type Stretch, splitColumns, type Column as TextColumn } from "./text";

/** What the documents of a page have in common. */
export interface Layout {
  data: Data;
  dataset: string;
  tracks: readonly number[];
  /** Whether tracks are only shown below the line of the selected region. */
  isCompact: boolean;
  /** For each mention the number of systems that are correct, -1 if it does not count. */
  correctCounts: readonly number[];
  onPoint: (doc: number, index: number, track?: number) => void;
}

/** The state of one document. */
interface DocumentState {
  doc: number;
  regions: readonly Region[];
  selectedIndex: number;
  /** The region that the Tab key reaches; -1 if it is in another document. */
  tabIndex: number;
  markedRegions: ReadonlySet<number>;
}

/** Whether the page is being printed; then all sections of the current document are rendered at once. */
export const isPrinting = signal(false);
const makePrintHandler = (value: boolean) => () => {
  const debounce = options.debounceRendering;
  options.debounceRendering = (render) => render();
  isPrinting.value = value;
  options.debounceRendering = debounce;
};
addEventListener("beforeprint", makePrintHandler(true));
addEventListener("afterprint", makePrintHandler(false));

const nearHandlers = new WeakMap<Element, (isNear: boolean) => void>();
const nearObserver = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) nearHandlers.get(entry.target)?.(entry.isIntersecting);
  },
  { rootMargin: "1500px 0px" },
);

/** Observe whether an element is near the visible part of the page; return its last height as well. */
function useNear<T extends HTMLElement>(isNearAtFirst: boolean) {
  const container = useRef<T>(null),
    height = useRef(0);
  const [isNear, setNear] = useState(isNearAtFirst);
  useEffect(() => {
    const element = container.current!;
    nearHandlers.set(element, (value) => {
      if (!value) height.current = element.offsetHeight;
      setNear(value);
    });
    nearObserver.observe(element);
    return () => nearObserver.unobserve(element);
  }, []);
  return { container, isNear, height };
}

const LINE_HEIGHT = 28, // pixels
  ROW_HEIGHT = 11;
const estimateHeight = (length: number, layout: Layout): number =>
  Math.ceil(length / 90) * (LINE_HEIGHT + (layout.isCompact ? 0 : ROW_HEIGHT * (layout.tracks.length + 1)));

/** Style a placeholder; it is no scroll anchor, so that what the reader sees stays when it grows. */
const holdPlace = (height: number) => ({ height: `${height}px`, overflowAnchor: "none" });

/** A document that is rendered while it is near; otherwise a placeholder has its height. */
export function DocumentPart({
  doc,
  isCurrent,
  layout,
  getRegions,
  ...state
}: Omit<DocumentState, "regions"> & {
  isCurrent: boolean;
  layout: Layout;
  getRegions: (doc: number) => readonly Region[];
}) {
  const { container, isNear, height } = useNear<HTMLElement>(isCurrent);
  const docInfo = layout.data.resource.documents[doc];
  const isReady = isPrinting.value ? isCurrent : isNear || isCurrent;
  const content = useMemo(
    () => isReady && <DocumentContent doc={doc} regions={getRegions(doc)} layout={layout} {...state} />,
    [isReady, layout, getRegions, doc, state.selectedIndex, state.tabIndex, state.markedRegions],
  );
  return (
    <article
      ref={container}
      class={isCurrent ? "part current" : "part"}
      data-doc={doc}
      style={isReady ? undefined : holdPlace(height.current || 80 + estimateHeight(docInfo.length, layout))}
    >
      {content}
    </article>
  );
}

function DocumentContent({ layout, ...state }: DocumentState & { layout: Layout }) {
  const { data, dataset } = layout,
    { doc } = state;
  const docInfo = data.resource.documents[doc];
  const texts = useTexts(dataset, data, [doc]);
  return (
    <>
      <h2>
        <span dir="auto">{data.getTitle(doc)}</span>{" "}
        <span class="aside quiet">
          {formatNumber(doc + 1)} of {formatNumber(data.resource.documents.length)}
        </span>
      </h2>
      {docInfo.block < 0 ? (
        <OffsetList id={docInfo.id} {...state} />
      ) : !texts.value && !texts.error ? (
        <p class="quiet" role="status" style={{ height: `${estimateHeight(docInfo.length, layout)}px` }}>
          Loading …
        </p>
      ) : (
        <Loader state={texts}>
          {(textsByDoc) => (
            <Sections layout={layout} stretches={textsByDoc.get(doc) ?? []} span={docInfo.span} state={state} />
          )}
        </Loader>
      )}
    </>
  );
}

const formatSpan = (region: Region): string => `${region.start}-${region.end}`;

/** The offsets of the regions, for reports without texts. */
function OffsetList({ id, regions, selectedIndex, tabIndex }: DocumentState & { id: string }) {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selectedIndex >= 0) revealRegion(container.current!);
  }, [selectedIndex]);
  return (
    <div class="bare" ref={container}>
      <p>
        {regions.map((region, index) => (
          <>
            <a
              key={region.start}
              class={index === selectedIndex ? "region selected" : "region"}
              tabIndex={index === tabIndex ? 0 : -1}
              aria-current={index === selectedIndex ? "true" : undefined}
              href={currentUrl({ doc: id, at: formatSpan(region) })}
            >
              {region.start}–{region.end}
            </a>{" "}
          </>
        ))}
      </p>
    </div>
  );
}

function Sections({
  layout,
  stretches,
  span,
  state,
}: {
  layout: Layout;
  stretches: readonly Stretch[];
  span: [number, number] | null;
  state: DocumentState;
}) {
  const { regions } = state;
  const sections = useMemo(
    () => splitSections(stretches, regions, layout.tracks.length),
    [stretches, regions, layout.tracks],
  );
  const indexes = useMemo(() => new Map(regions.map((region, index) => [region, index])), [regions]);
  if (!sections.length) return <p class="quiet">This report contains no part of this text.</p>;
  return (
    <div class={layout.isCompact ? "document compact" : "document"} dir="auto">
      {sections.map((section, index) => (
        <LazySection
          key={index}
          layout={layout}
          section={section}
          indexes={indexes}
          span={span}
          state={state}
          isFirst={index === 0}
        />
      ))}
    </div>
  );
}

interface SectionProps {
  layout: Layout;
  section: Section;
  indexes: ReadonlyMap<Region, number>;
  span: [number, number] | null;
  state: DocumentState;
}

/** A section that is rendered while it is near; otherwise a placeholder has its height. */
function LazySection({ isFirst, ...props }: SectionProps & { isFirst: boolean }) {
  const { layout, section, state, indexes } = props;
  const { container, isNear, height } = useNear<HTMLDivElement>(isFirst);
  const isSelected = section.regions.some((region) => indexes.get(region) === state.selectedIndex);
  const isReady = isNear || isSelected || isPrinting.value;
  const line = useSelectedLine(container, isSelected && layout.isCompact ? state.selectedIndex : -1);
  useEffect(() => {
    const section = container.current!;
    if (isSelected) settle(section.closest(".flow")!, () => revealRegion(section));
  }, [state.selectedIndex, isSelected]);
  const style = isReady
    ? formatNames(layout, section.levels)
    : holdPlace(height.current || estimateHeight(section.end - section.start, layout));
  return (
    <div ref={container} class="section" style={style}>
      {isReady && <SectionText {...props} line={line} />}
    </div>
  );
}

/** Scroll to the selected region, and move the focus to it unless the reader is elsewhere. */
function revealRegion(container: HTMLElement): void {
  const element = container.querySelector<HTMLElement>(".region.selected");
  if (!element) return;
  const box = element.getBoundingClientRect();
  const isNarrow = innerWidth <= 900; // the card covers the lower part
  if (box.top < 140 || box.bottom > innerHeight * (isNarrow ? 0.5 : 0.95))
    element.scrollIntoView({ block: isNarrow ? "start" : "center" });
  if (document.activeElement === document.body || document.activeElement?.classList.contains("region"))
    element.focus({ preventScroll: true });
}

const NO_REGIONS: ReadonlySet<number> = new Set();

/** Find the regions in the same line as the selected one; none if no index is given. */
function useSelectedLine(
  container: { readonly current: HTMLElement | null },
  selectedIndex: number,
): ReadonlySet<number> {
  const [line, setLine] = useState(NO_REGIONS);
  useLayoutEffect(() => {
    if (selectedIndex < 0) {
      setLine(NO_REGIONS);
      return;
    }
    const findLine = () => {
      const getTops = (element: Element) =>
        [...element.querySelectorAll(".letters")].map((letters) => letters.getBoundingClientRect().top);
      const elements = [...container.current!.querySelectorAll<HTMLElement>(".region")];
      const selectedTops = elements.filter((element) => element.classList.contains("selected")).flatMap(getTops);
      const isInLine = (element: Element) =>
        getTops(element).some((top) => selectedTops.some((selectedTop) => Math.abs(top - selectedTop) < 3));
      setLine(new Set(elements.filter(isInLine).map((element) => Number(element.dataset.index))));
    };
    findLine();
    addEventListener("resize", findLine);
    return () => removeEventListener("resize", findLine);
  }, [selectedIndex]);
  return line;
}

/** Format the names in the margin as CSS text: a line for each level of a track. */
function formatNames({ data, tracks }: Layout, levels: readonly number[]): Record<string, string> {
  const names = ["", ...tracks.map((t) => systemTitle(data.tracks[t].system))];
  const escapeName = (name: string) =>
    [...name].map((char) => `\\${char.codePointAt(0)!.toString(16).padStart(6, "0")}`).join("");
  return { "--names": `"${names.map((name, index) => escapeName(name) + "\\a ".repeat(levels[index])).join("")}"` };
}

/** The text of a section, with the tracks of its regions. */
export function SectionText({
  layout,
  section,
  indexes,
  span,
  state,
  line,
}: SectionProps & { line: ReadonlySet<number> }) {
  const nodes = [];
  let offset = section.start;
  const isUnscored = (position: number) => span !== null && (position < span[0] || position >= span[1]);
  const addText = (end: number) => {
    if (end <= offset) return;
    const borders = [offset, ...(span ?? []).filter((border) => border > offset && border < end), end];
    for (let index = 0; index + 1 < borders.length; index++)
      nodes.push(
        <span
          key={`t${borders[index]}`}
          data-start={borders[index]}
          class={isUnscored(borders[index]) ? "unscored" : undefined}
        >
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
        layout={layout}
        doc={state.doc}
        region={region}
        section={section}
        index={index}
        isTabStop={index === state.tabIndex}
        isSelected={index === state.selectedIndex}
        isMarked={state.markedRegions.has(index)}
        hasTracks={!layout.isCompact || line.has(index)}
      />,
    );
    offset = region.end;
  }
  addText(section.end);
  return <>{nodes}</>;
}

/** Split the text of a region into columns, one for each part that all bars cover alike. */
export function splitRegion(region: Region, stretch: Stretch): TextColumn[] {
  const borders = new Set(region.bars.flatMap((bar) => [bar.start, bar.end]));
  return splitColumns(stretch, region.start, region.end, borders);
}

function RegionColumns({
  layout,
  doc,
  region,
  section,
  index,
  isTabStop,
  isSelected,
  isMarked,
  hasTracks,
}: {
  layout: Layout;
  doc: number;
  region: Region;
  section: Section;
  index: number;
  isTabStop: boolean;
  isSelected: boolean;
  isMarked: boolean;
  hasTracks: boolean;
}) {
  const { data, tracks } = layout;
  const groups: TextColumn[][] = [];
  for (const column of splitRegion(region, section.stretch))
    column.canBreak || !groups.length ? groups.push([column]) : groups.at(-1)!.push(column);
  const changes = { doc: data.resource.documents[doc].id, at: formatSpan(region) };
  return (
    <a
      class={`region${isSelected ? " selected" : ""}${isMarked ? " marked" : ""}${hasTracks ? " open" : ""}`}
      data-index={index}
      // A single region is reached by the Tab key, the others from there by arrow keys.
      tabIndex={isTabStop ? 0 : -1}
      href={currentUrl(changes)}
      aria-label={describeRegion(layout, region, section.stretch)}
      aria-current={isSelected ? "true" : undefined}
      onMouseOver={(event) =>
        layout.onPoint(
          doc,
          index,
          Number((event.target as Element).closest<HTMLElement>(".track")?.dataset.track ?? -1),
        )
      }
      onFocus={() => layout.onPoint(doc, index)}
      onClick={(event) => {
        event.preventDefault();
        updateQuery(changes, true);
      }}
    >
      {groups.map((group) => (
        <span class="unbroken" key={group[0].start}>
          {group.map((column) => (
            <span class="column" key={column.start}>
              <span
                data-start={column.start}
                {...(layout.isCompact ? shadeLetters(layout, region, column) : { class: "letters" })}
              >
                {column.text.replace(/[\n\r]/g, " ")}
              </span>
              {hasTracks &&
                section.levels.map((count, track) => (
                  <span class={track === 0 ? "track gold" : "track"} data-track={track - 1} key={track}>
                    {Array.from({ length: count }, (_, level) => {
                      const bar = region.bars.find(
                        (item) =>
                          item.track === track - 1 &&
                          item.level === level &&
                          item.start < column.end &&
                          column.start < item.end,
                      );
                      return bar ? (
                        <i key={level} class={barClass(bar, column)} title={describeBar(data, tracks, bar)} />
                      ) : (
                        <i key={level} class="b" />
                      );
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

/** Colour the letters of a column by the share of systems that are correct on its innermost counted mention. */
function shadeLetters(
  { correctCounts, tracks }: Layout,
  region: Region,
  column: TextColumn,
): { class: string; style?: Record<string, string> } {
  const mentions = region.bars
    .filter((bar) => bar.track < 0 && bar.start < column.end && column.start < bar.end)
    .sort((a, b) => a.end - a.start - (b.end - b.start));
  const mention = mentions.find((bar) => correctCounts[bar.row] >= 0);
  if (mention) {
    const share = correctCounts[mention.row] / tracks.length;
    return { class: "letters shaded", style: { "--share": share.toFixed(3) } };
  }
  return { class: mentions.length ? "letters uncounted" : "letters predicted" };
}

/** Build the class of a bar within a column, with its start and its end. */
function barClass(bar: Bar, column: TextColumn): string {
  const ends = `${bar.start >= column.start ? " s" : ""}${bar.end <= column.end ? " e" : ""}`;
  return `b ${barKind(bar)}${ends}`;
}

/** Get the class of a bar's outcome; gold mentions have a class of their own. */
export function barKind(bar: Bar): string {
  return bar.track >= 0 ? KIND_CLASS[bar.kind] : bar.kind === UNCOUNTED_CASE ? "label optional" : "label";
}

/** Describe a bar by its system, outcome and reason. */
function describeBar(data: Data, tracks: readonly number[], bar: Bar): string {
  if (bar.track < 0) return `gold: ${data.getName(data.resource.gold.entity[bar.row])}`;
  const track = tracks[bar.track];
  const kind = data.resource.kinds[bar.kind];
  return `${systemTitle(data.tracks[track].system)}: ${kind}: ${data.getReason({ track, row: bar.row })}`;
}

/** Describe a region for screen readers. */
function describeRegion({ data, tracks }: Layout, region: Region, stretch: Stretch): string {
  const gold = region.bars
    .filter((bar) => bar.track < 0)
    .map((bar) => `gold ${data.getName(data.resource.gold.entity[bar.row])}`);
  const predictions = region.bars
    .filter((bar) => bar.track >= 0)
    .map((bar) => `${systemTitle(data.tracks[tracks[bar.track]].system)} ${data.resource.kinds[bar.kind]}`);
  return `${stretch.slice(region.start, region.end)}: ${[...gold, ...predictions].join(", ")}`;
}

/** A sample bar, for the legend and the card. */
export function BarSample({ kind }: { kind: string }) {
  return (
    <span class="sample" aria-hidden="true">
      <i class={`b ${kind} s e`} />
    </span>
  );
}

// A passage of a text with its tracks, saved as a figure.
import { render } from "preact";
import { useState } from "preact/hooks";
import { KIND_CLASS, systemTitle, useTexts } from "./components";
import type { Data } from "./data";
import { barKind, SectionText, splitRegion } from "./document";
import { escapeXml, saveDrawing } from "./drawing";
import { cutPassage, type Region, type Section } from "./regions";
import type { Stretch } from "./text";

interface PassageProps {
  data: Data;
  dataset: string;
  doc: number;
  regions: readonly Region[];
  tracks: readonly number[];
}

/** Buttons that save the sentence of a region, or the selected text, with its tracks. */
export function PassageButtons({ region, ...props }: PassageProps & { region: Region }) {
  const { data, dataset, doc } = props;
  const [status, setStatus] = useState("");
  const texts = useTexts(dataset, data, [doc]);
  const stretch = texts.value?.get(doc)?.find((item) => item.start <= region.start && region.end <= item.end);
  if (!stretch) return null;
  const savePassage = (kind: "SVG" | "PNG") => {
    const selection = readSelection(doc);
    const [start, end] =
      selection && stretch.start <= selection[0] && selection[1] <= stretch.end
        ? selection
        : findSentence(stretch, region);
    const section = cutPassage(stretch, start, end, props.regions, props.tracks.length);
    const name = `${data.resource.dataset} ${data.getTitle(doc)} ${section.start}`;
    saveDrawing(drawPassage(props, section), name, kind).then(
      () => setStatus(`${kind} saved`),
      (error: Error) => setStatus(error.message),
    );
  };
  // Pressing a button must not clear the selected text.
  const keepSelection = (event: Event) => event.preventDefault();
  return (
    <p class="copy quiet">
      Save this passage as{" "}
      <button type="button" onMouseDown={keepSelection} onClick={() => savePassage("SVG")}>
        SVG
      </button>{" "}
      or{" "}
      <button type="button" onMouseDown={keepSelection} onClick={() => savePassage("PNG")}>
        PNG
      </button>
      : the sentence, or the text that you select.
      <span role="status">{status && ` · ${status}`}</span>
    </p>
  );
}

/** Read the span of the selected text in a document; null if no text of it is selected. */
function readSelection(doc: number): [number, number] | null {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const start = findOffset(range.startContainer, range.startOffset, doc),
    end = findOffset(range.endContainer, range.endOffset, doc);
  return start !== null && end !== null && start < end ? [start, end] : null;
}

/** Find the offset in the text of a position in the page; null if it is not in the text of the document. */
function findOffset(node: Node, position: number, doc: number): number | null {
  const element = (node instanceof Element ? node : node.parentElement)?.closest<HTMLElement>("[data-start]");
  if (!element?.closest(`[data-doc="${doc}"]`)) return null;
  const textBefore = node instanceof Text ? node.data.slice(0, position) : position ? element.textContent : "";
  return Number(element.dataset.start) + [...textBefore].length;
}

const MAX_CONTEXT = 600; // code points

/** Find the sentence around a region, within its paragraph. */
function findSentence(stretch: Stretch, region: Region): [number, number] {
  const start = Math.max(stretch.start, region.start - MAX_CONTEXT),
    before = stretch.slice(start, region.start),
    after = stretch.slice(region.end, region.end + MAX_CONTEXT);
  const text = before + stretch.slice(region.start, region.end) + after;
  const [low, high] = [before.length, text.length - after.length]; // in UTF-16 units
  let [first, last] = [0, text.length];
  for (const { index, segment } of new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)) {
    if (index <= low) first = index;
    if (index < high) last = index + segment.trimEnd().length;
  }
  first = Math.max(first, before.lastIndexOf("\n") + 1);
  const countCodePoints = (end: number) => [...text.slice(0, end)].length;
  return [start + countCodePoints(first), start + countCodePoints(Math.max(last, high))];
}

const MAX_TEXT_WIDTH = 576,
  MARGIN = 104,
  BAR = 7,
  ROW = 11;

/** Colours on white paper; they do not depend on the scheme of the page. */
const COLOURS: Record<string, string> = {
  label: "#b58900",
  "label optional": "#b58900",
  correct: "#2c7a4b",
  link: "#b83a1e",
  span: "#2f5fb3",
  missed: "#6d6d67",
  spurious: "#8a3d8f",
  free: "#9a9a93",
};
const INK = "#1c1c1a",
  QUIET = "#63635e";

/** A part of a bar in one line, with the ends of the bar that it has. */
interface Fragment {
  left: number;
  right: number;
  isLeftEnd: boolean;
  isRightEnd: boolean;
}

/** Draw a passage as SVG: lines of text with their tracks, names in the margin and a legend. */
function drawPassage(props: PassageProps, section: Section): string {
  const { data, doc } = props;
  const host = document.createElement("div");
  host.className = "measure";
  document.body.append(host);
  // The browser lays out the passage, so that words, directions and line breaks are those of the page.
  const indexes = new Map(section.regions.map((region, index) => [region, index]));
  const state = { doc, regions: section.regions, selectedIndex: -1, tabIndex: -1, markedRegions: new Set<number>() };
  const layout = { ...props, isCompact: false, correctCounts: [], onPoint: () => {} };
  render(
    <div class="document" dir="auto" style={{ maxWidth: `${MAX_TEXT_WIDTH}px` }}>
      <SectionText
        layout={layout}
        section={section}
        indexes={indexes}
        span={data.resource.documents[doc].span}
        state={state}
        line={new Set()}
      />
    </div>,
    host,
  );
  try {
    return drawLayout(props, section, host.firstElementChild as HTMLElement);
  } finally {
    render(null, host);
    host.remove();
  }
}

function drawLayout({ data, tracks, doc }: PassageProps, section: Section, text: HTMLElement): string {
  const isRightToLeft = getComputedStyle(text).direction === "rtl";
  const box = text.getBoundingClientRect();
  const offsetX = (isRightToLeft ? 8 : MARGIN) - box.left,
    offsetY = 12 - box.top;
  const elements: string[] = [];
  const addText = (x: number, y: number, label: string, attributes: string) =>
    elements.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapeXml(label)}</text>`);
  for (const { rect, label, isQuiet } of listWords(text)) {
    const x = (isRightToLeft ? rect.right : rect.left) + offsetX;
    const direction = isRightToLeft ? ' direction="rtl"' : "";
    // The length keeps words above their bars where another font replaces this one.
    const length = `textLength="${rect.width.toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
    addText(
      x,
      rect.top + offsetY + 0.78 * rect.height,
      label,
      `${length}${direction}${isQuiet ? ` fill="${QUIET}"` : ""}`,
    );
  }
  const rowOffsets = section.levels.map((_, index) => section.levels.slice(0, index).reduce((sum, n) => sum + n, 0));
  const lineBottoms = new Set<number>();
  const usedKinds = new Set<string>();
  text.querySelectorAll<HTMLElement>(".region").forEach((element, index) => {
    const letters = [...element.querySelectorAll<HTMLElement>(".letters")].map((item) => item.getBoundingClientRect());
    const columns = splitRegion(section.regions[index], section.stretch);
    for (const rect of letters) lineBottoms.add(Math.round(rect.bottom));
    for (const bar of section.regions[index].bars) {
      const rects = letters.filter((_, i) => bar.start < columns[i].end && columns[i].start < bar.end);
      usedKinds.add(barKind(bar));
      for (const [bottom, fragment] of joinRects(rects, isRightToLeft)) {
        const row = rowOffsets[bar.track + 1] + bar.level;
        const shift = { ...fragment, left: fragment.left + offsetX, right: fragment.right + offsetX };
        elements.push(drawShape(barKind(bar), shift, bottom + offsetY + ROW * row + (ROW - BAR) / 2));
      }
    }
  });
  const names = ["gold", ...tracks.map((t) => systemTitle(data.tracks[t].system))];
  for (const bottom of lineBottoms)
    names.forEach((name, track) => {
      const [x, anchor] = isRightToLeft ? [box.width + 16, "start"] : [MARGIN - 8, "end"];
      const colour = track ? QUIET : "#7a5c00";
      const attributes = `font-size="10" text-anchor="${anchor}" fill="${colour}"`;
      addText(x, bottom + offsetY + ROW * rowOffsets[track] + 9, shortenName(name), attributes);
    });
  let y = box.height + 26,
    x = isRightToLeft ? 8 : MARGIN;
  const legend = [
    ["label", "gold"],
    ["label optional", "optional"],
    ...data.resource.kinds.map((kind, index) => [KIND_CLASS[index], kind]),
  ];
  for (const [kind, title] of legend.filter(([kind]) => usedKinds.has(kind))) {
    elements.push(drawShape(kind, { left: x, right: x + 24, isLeftEnd: true, isRightEnd: true }, y - BAR));
    addText(x + 29, y, title, `font-size="11" fill="${QUIET}"`);
    x += 44 + 6 * title.length;
  }
  y += 18;
  addText(
    isRightToLeft ? 8 : MARGIN,
    y,
    `${data.resource.dataset}: ${data.getTitle(doc)}`,
    `font-size="11" fill="${QUIET}"`,
  );
  const height = Math.ceil(y + 10),
    width = Math.ceil(Math.max(MARGIN + box.width + 16, x));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${FONT}" font-size="${getComputedStyle(text).fontSize}" fill="${INK}">` +
    `<rect width="100%" height="100%" fill="#fff"/>${elements.join("")}</svg>`
  );
}

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const shortenName = (name: string): string => (name.length > 19 ? `${name.slice(0, 18)}…` : name);
interface Word {
  rect: DOMRect;
  label: string;
  isQuiet: boolean;
}

/** List the words of a text with their positions; a word that is broken has several parts. */
function listWords(text: HTMLElement): Word[] {
  const words: Word[] = [];
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const element of text.querySelectorAll<HTMLElement>("[data-start]")) {
    const node = element.firstChild as Text | null;
    if (!node) continue;
    const isQuiet = element.classList.contains("unscored");
    const range = document.createRange();
    const measure = (start: number, end: number) => {
      range.setStart(node, start);
      range.setEnd(node, end);
      return range.getBoundingClientRect();
    };
    for (const { index: start, 0: label } of node.data.matchAll(/\S+/gu)) {
      const rect = measure(start, start + label.length);
      const pieces = [{ start, end: start + label.length, rect }];
      const firstRect = measure(start, start + [...graphemes.segment(label)][0].segment.length);
      if (rect.height > 1.5 * firstRect.height) {
        pieces.length = 0;
        for (const { index, segment } of graphemes.segment(label)) {
          const last = pieces.at(-1),
            end = start + index + segment.length;
          const isSameLine = last && Math.abs(measure(start + index, end).top - last.rect.top) < 3;
          if (isSameLine) {
            last.end = end;
            last.rect = measure(last.start, end);
          } else pieces.push({ start: start + index, end, rect: measure(start + index, end) });
        }
      }
      for (const piece of pieces)
        words.push({ rect: piece.rect, label: node.data.slice(piece.start, piece.end), isQuiet });
    }
  }
  return words;
}

/** Join the columns of a bar in each line; return the parts with the bottom of their line. */
function joinRects(rects: readonly DOMRect[], isRightToLeft: boolean): Map<number, Fragment> {
  const fragments = new Map<number, Fragment>();
  rects.forEach((rect, index) => {
    const bottom = Math.round(rect.bottom);
    const isStart = index === 0,
      isEnd = index === rects.length - 1;
    const { left, right, isLeftEnd, isRightEnd } = fragments.get(bottom) ?? {
      left: rect.left,
      right: rect.right,
      isLeftEnd: false,
      isRightEnd: false,
    };
    fragments.set(bottom, {
      left: Math.min(left, rect.left),
      right: Math.max(right, rect.right),
      isLeftEnd: isLeftEnd || (isRightToLeft ? isEnd : isStart),
      isRightEnd: isRightEnd || (isRightToLeft ? isStart : isEnd),
    });
  });
  return fragments;
}

/** Draw a part of a bar in the shape of its outcome. */
function drawShape(kind: string, { left, right, isLeftEnd, isRightEnd }: Fragment, y: number): string {
  const x0 = left + (isLeftEnd ? 1 : 0),
    x1 = right - (isRightEnd ? 1 : 0),
    colour = COLOURS[kind];
  const [a, b, top, middle, bottom] = [x0, x1, y, y + BAR / 2, y + BAR].map((value) => value.toFixed(1));
  const drawPath = (path: string, attributes: string) => `<path d="${path}" ${attributes}/>`;
  const fill = `fill="${colour}"`,
    stroke = `fill="none" stroke="${colour}"`;
  switch (kind) {
    case "correct":
    case "missed": {
      const [l, r] = [x0 + (isLeftEnd ? 3.5 : 0), x1 - (isRightEnd ? 3.5 : 0)].map((value) => value.toFixed(1));
      const rightEnd = isRightEnd
        ? `A3.5 3.5 0 0 1 ${r} ${bottom}`
        : kind === "missed"
          ? `M${r} ${bottom}`
          : `V${bottom}`;
      const leftEnd = isLeftEnd ? `A3.5 3.5 0 0 1 ${l} ${top}` : "";
      return drawPath(`M${l} ${top}H${r}${rightEnd}H${l}${leftEnd}`, kind === "missed" ? stroke : fill);
    }
    case "link": {
      const [l, r] = [x0 + (isLeftEnd ? 4.5 : 0), x1 - (isRightEnd ? 4.5 : 0)].map((value) => value.toFixed(1));
      return drawPath(`M${a} ${middle}L${l} ${top}H${r}L${b} ${middle}L${r} ${bottom}H${l}Z`, fill);
    }
    case "span": {
      const ends = `${isLeftEnd ? `M${a} ${top}V${bottom}` : ""}${isRightEnd ? `M${b} ${top}V${bottom}` : ""}`;
      return drawPath(`M${a} ${middle}H${b}${ends}`, `${stroke} stroke-width="2"`);
    }
    case "spurious":
      return drawPath(
        `M${a} ${(y + 1).toFixed(1)}H${b}M${a} ${(y + BAR - 1).toFixed(1)}H${b}`,
        `${stroke} stroke-width="2"`,
      );
    case "label":
      return drawPath(`M${a} ${top}H${b}V${bottom}H${a}Z`, fill);
    default:
      return drawPath(`M${a} ${middle}H${b}`, stroke);
  }
}

// Text layout: offsets count code points, the browser finds words, and graphemes stay whole.

/** A stretch of a text, addressed by offsets in code points. */
export class Stretch {
  private readonly units: Uint32Array | null;
  readonly length: number;

  constructor(
    readonly start: number,
    readonly text: string,
  ) {
    let surrogates = false;
    for (let i = 0; i < text.length && !surrogates; i++) surrogates = (text.charCodeAt(i) & 0xfc00) === 0xd800;
    if (!surrogates) {
      this.units = null;
      this.length = text.length;
      return;
    }
    const units: number[] = [];
    for (let i = 0; i < text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) units.push(i);
    units.push(text.length);
    this.units = Uint32Array.from(units);
    this.length = units.length - 1;
  }

  get end(): number {
    return this.start + this.length;
  }

  /** Get the text between two offsets of the document. */
  slice(start: number, end: number): string {
    return this.text.slice(this.unitIndex(start), this.unitIndex(end));
  }

  private unitIndex(offset: number): number {
    const index = Math.min(Math.max(offset - this.start, 0), this.length);
    return this.units ? this.units[index] : index;
  }
}

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const countCodePoints = (text: string): number => {
  let count = 0;
  for (let i = 0; i < text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) count++;
  return count;
};

/** A column of text, and whether a line may break before it. */
export interface Column {
  start: number;
  end: number;
  text: string;
  canBreak: boolean;
}

/** Split a text where lines may break, after spaces, and at annotation borders; never split a grapheme. */
export function splitColumns(stretch: Stretch, start: number, end: number, borders: ReadonlySet<number>): Column[] {
  const columns: Column[] = [];
  let offset = start,
    lastSegment = "";
  for (const { segment, isWordLike } of wordSegmenter.segment(stretch.slice(start, end))) {
    const isSpace = /^\s/u.test(segment);
    const isJoined = !columns.length || isSpace || (!/\s$/u.test(lastSegment) && !(isWordLike && isUnspaced(segment)));
    let columnStart = offset,
      columnText = "";
    const flushColumn = (isFirst: boolean) => {
      if (columnText)
        columns.push({ start: columnStart, end: offset, text: columnText, canBreak: isFirst && !isJoined });
      columnStart = offset;
      columnText = "";
    };
    let isFirst = true;
    for (const { segment: grapheme } of graphemeSegmenter.segment(segment)) {
      if (columnText && borders.has(offset)) {
        flushColumn(isFirst);
        isFirst = false;
      }
      columnText += grapheme;
      const length = countCodePoints(grapheme);
      // Move a border inside this grapheme to its end.
      offset += length;
      if (length > 1)
        for (let innerOffset = offset - length + 1; innerOffset < offset; innerOffset++)
          if (borders.has(innerOffset)) {
            flushColumn(isFirst);
            isFirst = false;
            break;
          }
    }
    // What no line break or border separates is one column: no line starts with a space, and bars have fewer parts.
    const lastColumn = columns.at(-1);
    const hasBorder = [...borders].some((border) => border > (lastColumn?.start ?? start) && border <= columnStart);
    if (isJoined && isFirst && lastColumn && !hasBorder) {
      lastColumn.end = offset;
      lastColumn.text += columnText;
    } else flushColumn(isFirst);
    lastSegment = segment;
  }
  return columns;
}

const SCRIPT_CLASSES = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"].map(
  (name) => `\\p{Script=${name}}`,
);
const UNSPACED_SCRIPTS = new RegExp(`[${SCRIPT_CLASSES.join("")}]`, "u");

/** Check for scripts without spaces, in which lines may break between any two words. */
function isUnspaced(text: string): boolean {
  return UNSPACED_SCRIPTS.test(text);
}

/** A bar below the text: a gold mention (track -1) or a case of a track, with its level in the track. */
export interface Bar {
  track: number;
  row: number;
  start: number;
  end: number;
  kind: number;
  level: number;
}

/** Assign levels so that no bars overlap; return the number of levels for each track. */
export function assignLevels(bars: Bar[], tracks: number): number[] {
  const trackEnds: number[][] = Array.from({ length: tracks + 1 }, () => []);
  for (const bar of [...bars].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const ends = trackEnds[bar.track + 1];
    let level = ends.findIndex((end) => end <= bar.start);
    if (level < 0) level = ends.length;
    ends[level] = bar.end;
    bar.level = level;
  }
  return trackEnds.map((ends) => Math.max(1, ends.length));
}

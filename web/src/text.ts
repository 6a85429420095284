// Texts into columns: offsets are code points, words are the browser's own, and no grapheme is divided.

/** A stretch of a text that offsets in code points can be looked up in. */
export class Stretch {
  private readonly units: Uint32Array | null;
  readonly length: number;

  constructor(readonly start: number, readonly text: string) {
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

  /** What stands between two offsets of the whole text. */
  slice(from: number, to: number): string {
    return this.text.slice(this.unit(from), this.unit(to));
  }

  private unit(offset: number): number {
    const inside = Math.min(Math.max(offset - this.start, 0), this.length);
    return this.units ? this.units[inside] : inside;
  }
}

const words = new Intl.Segmenter(undefined, { granularity: "word" });
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const size = (text: string): number => {
  let count = 0;
  for (let i = 0; i < text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) count++;
  return count;
};

/** A column: some letters, and whether a line may end before it. */
export interface Column {
  start: number;
  end: number;
  text: string;
  breaks: boolean;
}

/** The words between two offsets, divided where annotations begin or end; a border inside a grapheme moves behind it. */
export function columns(stretch: Stretch, from: number, to: number, borders: ReadonlySet<number>): Column[] {
  const found: Column[] = [];
  let place = from, last = "";
  for (const { segment, isWordLike } of words.segment(stretch.slice(from, to))) {
    const joins = !found.length || (!isWordLike && !/^\s/u.test(segment)) || (isWordLike && !/\s$/u.test(last) && !unspaced(segment));
    let begin = place, held = "";
    const flush = (first: boolean) => {
      if (held) found.push({ start: begin, end: place, text: held, breaks: first && !joins });
      begin = place;
      held = "";
    };
    let first = true;
    for (const { segment: grapheme } of graphemes.segment(segment)) {
      if (held && borders.has(place)) {
        flush(first);
        first = false;
      }
      held += grapheme;
      const length = size(grapheme);
      // A border inside this grapheme is taken as one behind it.
      place += length;
      if (length > 1) for (let inside = place - length + 1; inside < place; inside++) if (borders.has(inside)) {
        flush(first);
        first = false;
        break;
      }
    }
    flush(first);
    last = segment;
  }
  return found;
}

/** Scripts that are written without spaces, where lines end between any two words. */
function unspaced(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(text);
}

/** A bar under the text: a gold mention (track -1) or a case of a track, and which row of its track it takes. */
export interface Bar {
  track: number;
  row: number;
  start: number;
  end: number;
  kind: number;
  level: number;
}

/** Put bars into rows so that none covers another. Gives how many rows each track needs. */
export function levelled(bars: Bar[], tracks: number): number[] {
  const free: number[][] = Array.from({ length: tracks + 1 }, () => []);
  for (const bar of [...bars].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const ends = free[bar.track + 1];
    let level = ends.findIndex((end) => end <= bar.start);
    if (level < 0) level = ends.length;
    ends[level] = bar.end;
    bar.level = level;
  }
  return free.map((ends) => Math.max(1, ends.length));
}

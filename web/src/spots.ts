// Where annotations stand in a text, and the text in sections.
import { type Data, MISSED, NOT_COUNTED, RIGHT } from "./data";
import type { Bar, Stretch } from "./text";

const SECTION = 1200; // code points that are laid out together

/** Annotations that touch each other, which are looked at together. */
export interface Spot {
  start: number;
  end: number;
  bars: Bar[];
}

export function spots(data: Data, doc: number, tracks: readonly number[]): Spot[] {
  const { gold } = data.piece;
  const bars: Bar[] = data.mentionsIn(doc).map((g) => ({ track: -1, row: g, start: gold.start[g], end: gold.end[g], kind: gold.optional[g] ? NOT_COUNTED : RIGHT, level: 0 }));
  for (const [place, t] of tracks.entries()) {
    const track = data.tracks[t];
    const answers: [number, number][] = [];
    for (const row of data.rowsIn(t, doc)) if (track.start[row] >= 0) answers.push([track.start[row], track.end[row]]);
    for (const row of data.rowsIn(t, doc)) {
      const [start, end] = data.span({ track: t, row });
      const unanswered = track.start[row] < 0;
      // Nothing to draw: what does not count, or what is missed where another answer stands already.
      if (unanswered && (track.kind[row] !== MISSED || answers.some(([low, high]) => low < end && start < high))) continue;
      bars.push({ track: place, row, start, end, kind: track.kind[row], level: 0 });
    }
  }
  bars.sort((a, b) => a.start - b.start || b.end - a.end);
  const found: Spot[] = [];
  for (const bar of bars) {
    const last = found.at(-1);
    if (last && bar.start < last.end) {
      last.bars.push(bar);
      last.end = Math.max(last.end, bar.end);
    } else found.push({ start: bar.start, end: bar.end, bars: [bar] });
  }
  return found;
}

export interface Section {
  stretch: Stretch;
  start: number;
  end: number;
  spots: Spot[];
  cut: boolean;
}

/** A text in sections that end at line ends or spaces, and never inside a spot. */
export function sections(stretches: readonly Stretch[], every: readonly Spot[]): Section[] {
  const found: Section[] = [];
  let next = 0;
  for (const [place, stretch] of stretches.entries()) {
    let start = stretch.start;
    while (start < stretch.end) {
      let end = Math.min(start + SECTION, stretch.end);
      if (end < stretch.end) {
        const text = stretch.slice(start, end);
        const at = Math.max(text.lastIndexOf("\n"), text.lastIndexOf(" "));
        if (at > 0) end = start + [...text.slice(0, at + 1)].length;
      }
      const own: Spot[] = [];
      while (next < every.length && every[next].start < end) {
        if (every[next].start >= start) own.push(every[next]);
        next++;
      }
      const last = own.at(-1);
      if (last && last.end > end) end = Math.min(last.end, stretch.end);
      found.push({ stretch, start, end, spots: own, cut: start === stretch.start && place > 0 });
      start = end;
    }
  }
  return found;
}

// Annotated regions of a text, and the sections of the text.
import { CORRECT_LINK, type Data, UNCOUNTED_CASE } from "./data";
import type { Bar, Stretch } from "./text";

const SECTION_LENGTH = 1200; // code points

/** A text region with overlapping annotations. */
export interface Region {
  start: number;
  end: number;
  bars: Bar[];
}

export function findRegions(data: Data, doc: number, tracks: readonly number[]): Region[] {
  const { gold } = data.resource;
  const bars: Bar[] = data.getMentions(doc).map((g) => ({
    track: -1,
    row: g,
    start: gold.start[g],
    end: gold.end[g],
    kind: gold.optional[g] ? UNCOUNTED_CASE : CORRECT_LINK,
    level: 0,
  }));
  for (const [index, t] of tracks.entries()) {
    const track = data.tracks[t];
    for (const row of data.getRows(t, doc)) {
      // Every case that counts has a bar: mentions that their parts make correct and misses are drawn at the mention.
      if (track.start[row] < 0 && track.kind[row] === UNCOUNTED_CASE) continue;
      const [start, end] = data.getSpan({ track: t, row });
      bars.push({ track: index, row, start, end, kind: track.kind[row], level: 0 });
    }
  }
  bars.sort((a, b) => a.start - b.start || b.end - a.end);
  const regions: Region[] = [];
  for (const bar of bars) {
    const lastRegion = regions.at(-1);
    if (lastRegion && bar.start < lastRegion.end) {
      lastRegion.bars.push(bar);
      lastRegion.end = Math.max(lastRegion.end, bar.end);
    } else regions.push({ start: bar.start, end: bar.end, bars: [bar] });
  }
  return regions;
}

export interface Section {
  stretch: Stretch;
  start: number;
  end: number;
  regions: Region[];
  hasGapBefore: boolean;
}

/** Split a text into sections at line breaks or spaces, never inside a region. */
export function splitSections(stretches: readonly Stretch[], regions: readonly Region[]): Section[] {
  const sections: Section[] = [];
  let regionIndex = 0;
  for (const [index, stretch] of stretches.entries()) {
    let start = stretch.start;
    while (start < stretch.end) {
      let end = Math.min(start + SECTION_LENGTH, stretch.end);
      if (end < stretch.end) {
        const text = stretch.slice(start, end);
        const breakIndex = Math.max(text.lastIndexOf("\n"), text.lastIndexOf(" "));
        if (breakIndex > 0) end = start + [...text.slice(0, breakIndex + 1)].length;
      }
      const sectionRegions: Region[] = [];
      while (regionIndex < regions.length && regions[regionIndex].start < end) {
        if (regions[regionIndex].start >= start) sectionRegions.push(regions[regionIndex]);
        regionIndex++;
      }
      const lastRegion = sectionRegions.at(-1);
      if (lastRegion && lastRegion.end > end) end = Math.min(lastRegion.end, stretch.end);
      sections.push({
        stretch,
        start,
        end,
        regions: sectionRegions,
        hasGapBefore: start === stretch.start && index > 0,
      });
      start = end;
    }
  }
  return sections;
}

// Annotated regions of a text, and the sections of the text.
import { CORRECT_LINK, type Data, UNCOUNTED_CASE } from "./data";
import { assignLevels, type Bar, type Stretch } from "./text";

const SECTION_LENGTH = 1200; // code points

/** A text region with overlapping annotations. */
export interface Region {
  start: number;
  end: number;
  bars: Bar[];
}

/** Find the regions of a document; a track is its index in `tracks`, -1 for the gold standard. */
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

/** A part of a text, with its regions and the number of levels of each of its tracks. */
export interface Section {
  stretch: Stretch;
  start: number;
  end: number;
  regions: Region[];
  levels: number[];
  hasGapBefore: boolean;
}

/** Cut a passage out of a text, with whole regions, and its own levels. */
export function cutPassage(
  stretch: Stretch,
  start: number,
  end: number,
  regions: readonly Region[],
  trackCount: number,
): Section {
  // Copies, so that levels of the text on the screen do not change.
  const passageRegions = regions
    .filter((region) => region.start < end && start < region.end)
    .map((region) => ({ ...region, bars: region.bars.map((bar) => ({ ...bar })) }));
  return {
    stretch,
    start: Math.max(stretch.start, Math.min(start, passageRegions[0]?.start ?? start)),
    end: Math.min(stretch.end, Math.max(end, passageRegions.at(-1)?.end ?? end)),
    regions: passageRegions,
    levels: assignLevels(
      passageRegions.flatMap((region) => region.bars),
      trackCount,
    ),
    hasGapBefore: false,
  };
}

/** Find a break in a text, or in the text after it; return the number of code points before the break, or 0. */
function findBreak(text: string, textAfter: string): number {
  // A section starts a new line, so it should end where the paragraph does, or else after a sentence or a word.
  const lastLine = text.lastIndexOf("\n"),
    nextLine = textAfter.indexOf("\n"),
    sentenceEnd = text.lastIndexOf(". ") + 1;
  if (lastLine < 0 && nextLine >= 0) return [...text, ...textAfter.slice(0, nextLine + 1)].length;
  const breakIndex = lastLine >= 0 ? lastLine : sentenceEnd > text.length / 2 ? sentenceEnd : text.lastIndexOf(" ");
  return [...text.slice(0, breakIndex + 1)].length;
}

/** Split a text into sections at line breaks or spaces, never inside a region. */
export function splitSections(
  stretches: readonly Stretch[],
  regions: readonly Region[],
  trackCount: number,
): Section[] {
  const sections: Section[] = [];
  let regionIndex = 0;
  for (const [index, stretch] of stretches.entries()) {
    let start = stretch.start;
    while (start < stretch.end) {
      let end = Math.min(start + SECTION_LENGTH, stretch.end);
      if (end < stretch.end) {
        const breakLength = findBreak(stretch.slice(start, end), stretch.slice(end, end + 3 * SECTION_LENGTH));
        if (breakLength > 0) end = start + breakLength;
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
        levels: assignLevels(
          sectionRegions.flatMap((region) => region.bars),
          trackCount,
        ),
        hasGapBefore: start === stretch.start && index > 0,
      });
      start = end;
    }
  }
  return sections;
}

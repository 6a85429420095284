// The cases of a dataset, with look-ups for the pages.
import type { AvoidedResource, CasesResource, FacetScores, GroupsResource, Track } from "./shape";

export const CORRECT_LINK = 0,
  WRONG_LINK = 1,
  WRONG_SPAN = 2,
  MISSED_MENTION = 3,
  SPURIOUS_PREDICTION = 4,
  UNCOUNTED_CASE = 5;
/** The outcomes that are errors. */
export const ERROR_KINDS = [WRONG_LINK, WRONG_SPAN, MISSED_MENTION, SPURIOUS_PREDICTION];
/** The names of the outcomes, in the order of their numbers. */
export const KINDS = ["correct", "wrong link", "wrong span", "missed", "spurious", "not counted"];
export const NIL = -1,
  UNLINKED = -2,
  UNKNOWN_ENTITY = -3;
const UNLINKED_TITLE = "unlinked";

/** Tests on the number of systems that link a mention correctly. */
const COVERAGE_TESTS: Partial<Record<string, (correctCount: number, systemCount: number) => boolean>> = {
  all: (correctCount, systemCount) => correctCount === systemCount,
  some: (correctCount, systemCount) => correctCount > 0 && correctCount < systemCount,
  one: (correctCount) => correctCount === 1,
  none: (correctCount) => correctCount === 0,
  counted: (correctCount) => correctCount >= 0,
};
export const COVERAGE_TITLES: Record<string, string> = {
  all: "that all systems link correctly",
  some: "on which the systems differ",
  one: "that only one system links correctly",
  none: "that no system links correctly",
  counted: "that count for all systems",
};

/** A case: a row of a track. */
export interface Case {
  track: number;
  row: number;
}

/** A case filter; a case must meet all conditions. */
export interface Filter {
  system?: string;
  kind?: string;
  error?: string;
  avoided?: string;
  entity?: string;
  surface?: string;
  doc?: string;
  type?: string;
  label?: string;
  is?: string;
  who?: string;
  find?: string;
}

export class Data {
  /** The facets of the cases, null until a page loads them. */
  groups: GroupsResource | null = null;
  /** The errors that cases avoid, null until a page loads them. */
  avoided: AvoidedResource | null = null;
  readonly rowByGold: Int32Array[];
  private readonly rows: number[][][] = [];
  private readonly mentions: number[][] = [];
  private readonly entityIndex: Map<string, number>;
  private readonly sharedNames = new Set<string>();
  /** Length of a long URL prefix that all document titles share, else 0. */
  private readonly prefixLength: number;

  constructor(readonly resource: CasesResource) {
    this.entityIndex = new Map(resource.entities.map((id, index) => [id, index]));
    const uniqueNames = new Set<string>();
    for (const name of resource.names)
      if (name !== null) uniqueNames.has(name) ? this.sharedNames.add(name) : uniqueNames.add(name);
    const titles = resource.documents.map((document) => document.title ?? document.id);
    const prefix =
      titles.length > 1
        ? titles.reduce((a, b) => {
            let length = 0;
            while (length < a.length && a[length] === b[length]) length++;
            return a.slice(0, length);
          })
        : "";
    this.prefixLength = prefix.length > 12 ? prefix.lastIndexOf("/") + 1 : 0;
    for (const [g, doc] of resource.gold.document.entries()) {
      this.mentions[doc] ??= [];
      this.mentions[doc].push(g);
    }
    this.rowByGold = resource.tracks.map((track, t) => {
      const goldRows = new Int32Array(resource.gold.start.length).fill(-1);
      const rows: number[][] = [];
      this.rows[t] = rows;
      for (let row = 0; row < track.gold.length; row++) {
        rows[track.document[row]] ??= [];
        rows[track.document[row]].push(row);
        if (track.gold[row] >= 0 && goldRows[track.gold[row]] < 0) goldRows[track.gold[row]] = row;
      }
      return goldRows;
    });
  }

  get tracks(): Track[] {
    return this.resource.tracks;
  }

  getRows(track: number, doc: number): number[] {
    return this.rows[track][doc] ?? [];
  }

  getMentions(doc: number): number[] {
    return this.mentions[doc] ?? [];
  }

  /** Get the outcome of a gold mention for a system; a mention below a spurious prediction does not count itself. */
  getKind(track: number, g: number): number {
    const row = this.rowByGold[track][g],
      kind = row < 0 ? UNCOUNTED_CASE : this.tracks[track].kind[row];
    return kind === WRONG_SPAN || kind === SPURIOUS_PREDICTION ? UNCOUNTED_CASE : kind;
  }

  /** Get the id of an entity, or a title for NIL and unlinked. */
  getId(entity: number): string {
    return entity >= 0 ? this.resource.entities[entity] : entity === NIL ? "NIL" : UNLINKED_TITLE;
  }

  getName(entity: number): string {
    return (entity >= 0 && this.resource.names[entity]) || this.getId(entity);
  }

  /** Check whether another entity has the same name. */
  hasSharedName(entity: number): boolean {
    return this.sharedNames.has(this.getName(entity));
  }

  /** Get the short description of an entity; null if unknown. */
  getDescription(entity: number): string | null {
    return entity >= 0 ? this.resource.descriptions[entity] : null;
  }

  findEntity(id: string): number {
    return id === "NIL" ? NIL : id === UNLINKED_TITLE ? UNLINKED : (this.entityIndex.get(id) ?? UNKNOWN_ENTITY);
  }

  /** Find the name of an entity by id; return the id if the dataset does not contain it. */
  findName(id: string): string {
    const entity = this.findEntity(id);
    return entity === UNKNOWN_ENTITY ? id : this.getName(entity);
  }

  /** Get the span of a case's prediction, or of its gold mention. */
  getSpan({ track, row }: Case): [number, number] {
    const cases = this.tracks[track];
    if (cases.start[row] >= 0) return [cases.start[row], cases.end[row]];
    const g = cases.gold[row];
    return [this.resource.gold.start[g], this.resource.gold.end[g]];
  }

  getSurface({ track, row }: Case): string {
    const cases = this.tracks[track];
    const g = cases.gold[row];
    const index = cases.start[row] >= 0 ? cases.surface[row] : g >= 0 ? this.resource.gold.surface[g] : -1;
    const [start, end] = this.getSpan({ track, row });
    return (index >= 0 && this.resource.surfaces[index]) || `${start}–${end}`;
  }

  getGoldSurface(g: number): string {
    return (
      this.resource.surfaces[this.resource.gold.surface[g]] ||
      `${this.resource.gold.start[g]}–${this.resource.gold.end[g]}`
    );
  }

  getErrors({ track, row }: Case): string[] {
    return this.resource.combinations[this.tracks[track].errors[row]].map((index) => this.resource.categories[index]);
  }

  /** Get the reason for the outcome of a case. */
  getReason({ track, row }: Case): string {
    return this.resource.reasons[this.tracks[track].reason[row]];
  }

  /** Get the title and description of an error category. */
  getCategory(name: string): { title: string; description: string } {
    const index = this.resource.categories.indexOf(name);
    return index < 0
      ? { title: name, description: "" }
      : { title: this.resource.titles[index], description: this.resource.description[index] };
  }

  getTitle(doc: number): string {
    const document = this.resource.documents[doc],
      title = document?.title ?? document?.id ?? "unknown document";
    return title.slice(document ? this.prefixLength : 0) || title;
  }

  findDocument(id: string): number {
    return this.resource.documents.findIndex((document) => document.id === id);
  }

  /** Find a group of a facet. */
  findGroup(
    facetName: string | undefined,
    groupName: string | undefined,
  ): { facet: FacetScores; index: number; title: string } | null {
    const facet = this.groups?.facets.find((facet) => facet.name === facetName),
      index = facet?.values.findIndex((group) => group.name === groupName) ?? -1;
    return facet && index >= 0 ? { facet, index, title: facet.values[index].title } : null;
  }

  /** Make a test whether a case belongs to a group. */
  private makeGroupTest(facetName: string, groupName: string): (track: number, row: number) => boolean {
    const group = this.findGroup(facetName, groupName);
    if (!group) return () => false;
    const combinations = new Set(
      group.facet.combinations.flatMap((combination, index) => (combination.includes(group.index) ? [index] : [])),
    );
    const tracks = new Map(group.facet.tracks.map((track) => [track.system, track.cases]));
    return (track, row) => combinations.has(tracks.get(this.tracks[track].system)?.[row] ?? -1);
  }

  /** Make a test whether a case avoids an error of a category. */
  private makeAvoidedTest(name: string): (track: number, row: number) => boolean {
    const category = this.resource.categories.indexOf(name),
      combinations = new Set(
        this.avoided?.combinations.flatMap((combination, index) => (combination.includes(category) ? [index] : [])),
      );
    const tracks = new Map(this.avoided?.tracks.map((track) => [track.system, track.cases]));
    return (track, row) => combinations.has(tracks.get(this.tracks[track].system)?.[row] ?? -1);
  }

  /** Count the systems that link each mention correctly; -1 if it does not count for one of them. */
  countCorrect(tracks: readonly number[]): number[] {
    return this.resource.gold.start.map((_, g) => {
      const kinds = tracks.map((t) => this.getKind(t, g));
      return kinds.includes(UNCOUNTED_CASE) ? -1 : kinds.filter((kind) => kind === CORRECT_LINK).length;
    });
  }

  /** List the cases that pass a filter, in text order; `who` considers the visible tracks only. */
  filterCases(filter: Filter, systems: readonly string[], visibleTracks: readonly number[] = []): Case[] {
    const kinds = filter.kind ? filter.kind.split(",") : null;
    const error = filter.error ? this.resource.categories.indexOf(filter.error) : -1;
    const errorCombinations =
      error < 0
        ? null
        : new Set(
            this.resource.combinations.flatMap((combination, index) => (combination.includes(error) ? [index] : [])),
          );
    const entity = filter.entity ? this.findEntity(filter.entity) : null;
    const doc = filter.doc ? this.findDocument(filter.doc) : -1;
    // A link may name a category or a document that these cases do not have.
    if ((filter.error && error < 0) || (filter.doc && doc < 0)) return [];
    const pattern = filter.find ? compilePattern(filter.find) : null;
    const typeLists = filter.type
      ? new Set(this.resource.types.flatMap((types, index) => (types.includes(filter.type!) ? [index] : [])))
      : null;
    const groupTest = filter.label && filter.is ? this.makeGroupTest(filter.label, filter.is) : null;
    const avoidedTest = filter.avoided ? this.makeAvoidedTest(filter.avoided) : null;
    const coverageTest = COVERAGE_TESTS[filter.who ?? ""],
      correctCounts = coverageTest && this.countCorrect(visibleTracks);
    const cases: Case[] = [];
    const { gold } = this.resource;
    for (const [t, track] of this.tracks.entries()) {
      if (filter.system && systems[track.system] !== filter.system) continue;
      for (let row = 0; row < track.gold.length; row++) {
        const g = track.gold[row];
        if (doc >= 0 && track.document[row] !== doc) continue;
        if (kinds && !kinds.includes(this.resource.kinds[track.kind[row]])) continue;
        if (errorCombinations && !errorCombinations.has(track.errors[row])) continue;
        if (entity !== null && track.entity[row] !== entity && (g < 0 || gold.entity[g] !== entity)) continue;
        if (typeLists && (g < 0 || !typeLists.has(gold.types[g]))) continue;
        if (groupTest && !groupTest(t, row)) continue;
        if (avoidedTest && !avoidedTest(t, row)) continue;
        if (
          correctCounts &&
          (g < 0 || this.rowByGold[t][g] !== row || !coverageTest(correctCounts[g], visibleTracks.length))
        )
          continue;
        if (
          filter.surface &&
          this.getSurface({ track: t, row }) !== filter.surface &&
          (g < 0 || this.getGoldSurface(g) !== filter.surface)
        )
          continue;
        if (pattern && !pattern(this.getSearchText({ track: t, row }))) continue;
        cases.push({ track: t, row });
      }
    }
    return cases.sort((a, b) => this.compareCases(a, b));
  }

  compareCases(a: Case, b: Case): number {
    const documentOrder = this.tracks[a.track].document[a.row] - this.tracks[b.track].document[b.row];
    if (documentOrder) return documentOrder;
    const [spanA, spanB] = [this.getSpan(a), this.getSpan(b)];
    return spanA[0] - spanB[0] || spanA[1] - spanB[1] || a.track - b.track;
  }

  /** Get the text that a search looks at. */
  private getSearchText(item: Case): string {
    const track = this.tracks[item.track];
    const g = track.gold[item.row];
    const entities = [track.entity[item.row], g < 0 ? UNLINKED : this.resource.gold.entity[g]];
    return [
      this.getSurface(item),
      ...entities.filter((e) => e >= 0).flatMap((e) => [this.getName(e), this.getId(e)]),
    ].join("\n");
  }

  /** Compare two systems on the mentions that count for both. */
  compareTracks(
    trackA: number,
    trackB: number,
  ): {
    exclusiveMentions: [number[], number[]];
    /** Mentions that both systems link wrongly, to different entities. */
    differentMentions: number[];
    bothCount: number;
    neitherCount: number;
  } {
    const exclusiveMentions: [number[], number[]] = [[], []],
      differentMentions: number[] = [];
    let bothCount = 0,
      neitherCount = 0;
    for (let g = 0; g < this.resource.gold.start.length; g++) {
      const kinds = [trackA, trackB].map((t) => this.getKind(t, g));
      if (kinds.includes(UNCOUNTED_CASE)) continue;
      const [a, b] = kinds.map((kind) => kind === CORRECT_LINK);
      if (a && b) bothCount++;
      else if (!a && !b) {
        neitherCount++;
        if (this.predictsDifferently(trackA, trackB, g)) differentMentions.push(g);
      } else exclusiveMentions[a ? 0 : 1].push(g);
    }
    return { exclusiveMentions, differentMentions, bothCount, neitherCount };
  }

  /** List the rows of each system's spurious predictions that the other system does not make too. */
  listExclusivePredictions(trackA: number, trackB: number): [number[], number[]] {
    const lists = [trackA, trackB].map((t) => {
      const track = this.tracks[t],
        rows = track.kind.flatMap((kind, row) => (kind === WRONG_SPAN || kind === SPURIOUS_PREDICTION ? [row] : []));
      return { rows, key: (row: number) => [track.document, track.start, track.end, track.entity].map((c) => c[row]) };
    });
    const keys = lists.map(({ rows, key }) => new Set(rows.map((row) => key(row).join())));
    const [rowsA, rowsB] = lists.map(({ rows, key }, index) =>
      rows.filter((row) => !keys[1 - index].has(key(row).join())),
    );
    return [rowsA, rowsB];
  }

  /** Check whether both systems have a prediction for a mention, with different entities. */
  predictsDifferently(trackA: number, trackB: number, g: number): boolean {
    const [rowA, rowB] = [this.rowByGold[trackA][g], this.rowByGold[trackB][g]],
      [a, b] = [this.tracks[trackA], this.tracks[trackB]];
    return a.start[rowA] >= 0 && b.start[rowB] >= 0 && a.entity[rowA] !== b.entity[rowB];
  }
}

/** Compile a case-insensitive regular expression; match the literal text if it is invalid. */
export function compilePattern(text: string): (target: string) => boolean {
  const needle = text.toLowerCase();
  const matchLiteral = (target: string) => target.toLowerCase().includes(needle);
  // URLs are untrusted: match patterns that may backtrack exponentially as literal text.
  if (text.length > 200 || /[+*}?]\)?[+*{]/.test(text)) return matchLiteral;
  try {
    const pattern = new RegExp(text, "imu");
    return (target) => pattern.test(target);
  } catch {
    return matchLiteral;
  }
}

export function countItems<T>(items: Iterable<T>): [T, number][] {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

// All cases of a dataset, as pages look at them.
import type { CasesPiece, GroupsPiece, SplitLabel, Track } from "./shape";

export const RIGHT = 0, WRONG_LINK = 1, WRONG_SPAN = 2, MISSED = 3, SPURIOUS = 4, NOT_COUNTED = 5;
export const NIL = -1, NO_LINK = -2, UNKNOWN = -3;
const NONE = "no link";

/** Which mentions are meant by how many systems get them. */
const WHO: Partial<Record<string, (getters: number, all: number) => boolean>> = {
  all: (getters, all) => getters === all,
  some: (getters, all) => getters > 0 && getters < all,
  one: (getters) => getters === 1,
  none: (getters) => getters === 0,
  counted: (getters) => getters >= 0,
};
export const WHO_SAYS: Record<string, string> = { all: "that all systems get", some: "on which systems differ", one: "that one system alone gets", none: "that no system gets", counted: "that count for all systems" };

/** A case: a row of a track. */
export interface Case {
  track: number;
  row: number;
}

/** What cases are looked for by; everything that is given must hold. */
export interface Filter {
  system?: string;
  kind?: string;
  error?: string;
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
  /** What cases are split by, once somebody asks for it. */
  split: GroupsPiece | null = null;
  readonly byGold: Int32Array[];
  private readonly rows: number[][][] = [];
  private readonly mentions: number[][] = [];
  private readonly entityPlace: Map<string, number>;
  private readonly namesakes = new Set<string>();
  /** How many letters the titles of all documents begin with, where that is much: an address that tells none apart. */
  private readonly common: number;

  constructor(readonly piece: CasesPiece) {
    this.entityPlace = new Map(piece.entities.map((id, place) => [id, place]));
    const met = new Set<string>();
    for (const name of piece.names) if (name !== null) met.has(name) ? this.namesakes.add(name) : met.add(name);
    const ids = piece.documents.map((own) => own.title ?? own.id);
    const shared = ids.length > 1 ? ids.reduce((one, two) => { let at = 0; while (at < one.length && one[at] === two[at]) at++; return one.slice(0, at); }) : "";
    this.common = shared.length > 12 ? shared.lastIndexOf("/") + 1 : 0;
    for (const [g, doc] of piece.gold.document.entries()) (this.mentions[doc] ??= []).push(g);
    this.byGold = piece.tracks.map((track, t) => {
      const found = new Int32Array(piece.gold.start.length).fill(-1);
      const rows: number[][] = (this.rows[t] = []);
      for (let row = 0; row < track.gold.length; row++) {
        (rows[track.document[row]] ??= []).push(row);
        if (track.gold[row] >= 0 && found[track.gold[row]] < 0) found[track.gold[row]] = row;
      }
      return found;
    });
  }

  get tracks(): Track[] {
    return this.piece.tracks;
  }

  rowsIn(track: number, doc: number): number[] {
    return this.rows[track][doc] ?? [];
  }

  mentionsIn(doc: number): number[] {
    return this.mentions[doc] ?? [];
  }

  /** How a mention ended for a system. */
  kindOf(track: number, g: number): number {
    const row = this.byGold[track][g];
    return row < 0 ? NOT_COUNTED : this.tracks[track].kind[row];
  }

  /** The id of an entity, in words. */
  id(entity: number): string {
    return entity >= 0 ? this.piece.entities[entity] : entity === NIL ? "NIL" : NONE;
  }

  name(entity: number): string {
    return (entity >= 0 && this.piece.names[entity]) || this.id(entity);
  }

  /** Whether another entity is called the same. */
  hasNamesake(entity: number): boolean {
    return this.namesakes.has(this.name(entity));
  }

  /** What an entity is, in a few words, if somebody knows. */
  description(entity: number): string | null {
    return entity >= 0 ? this.piece.descriptions[entity] : null;
  }

  place(id: string): number {
    return id === "NIL" ? NIL : id === NONE ? NO_LINK : this.entityPlace.get(id) ?? UNKNOWN;
  }

  /** The name of an entity that may be unknown here. */
  called(id: string): string {
    const entity = this.place(id);
    return entity === UNKNOWN ? id : this.name(entity);
  }

  /** Where a case stands: on its answer, or else on its mention. */
  span({ track, row }: Case): [number, number] {
    const own = this.tracks[track];
    if (own.start[row] >= 0) return [own.start[row], own.end[row]];
    const g = own.gold[row];
    return [this.piece.gold.start[g], this.piece.gold.end[g]];
  }

  surface({ track, row }: Case): string {
    const own = this.tracks[track];
    const g = own.gold[row];
    const place = own.start[row] >= 0 ? own.surface[row] : g >= 0 ? this.piece.gold.surface[g] : -1;
    const [start, end] = this.span({ track, row });
    return (place >= 0 && this.piece.surfaces[place]) || `${start}–${end}`;
  }

  goldSurface(g: number): string {
    return this.piece.surfaces[this.piece.gold.surface[g]] || `${this.piece.gold.start[g]}–${this.piece.gold.end[g]}`;
  }

  errors({ track, row }: Case): string[] {
    return this.piece.combinations[this.tracks[track].errors[row]].map((place) => this.piece.categories[place]);
  }

  /** What an error category is called, and what it means. */
  category(name: string): { title: string; says: string } {
    const place = this.piece.categories.indexOf(name);
    return place < 0 ? { title: name, says: "" } : { title: this.piece.titles[place], says: this.piece.says[place] };
  }

  title(doc: number): string {
    const own = this.piece.documents[doc], whole = own?.title ?? own?.id ?? "no document";
    return whole.slice(own ? this.common : 0) || whole;
  }

  doc(id: string): number {
    return this.piece.documents.findIndex((own) => own.id === id);
  }

  /** A label that cases are split by, and one of its values. */
  part(label: string | undefined, is: string | undefined): { label: SplitLabel; place: number; title: string } | null {
    const own = this.split?.labels.find((one) => one.name === label), place = own?.values.findIndex((one) => one.name === is) ?? -1;
    return own && place >= 0 ? { label: own, place, title: own.values[place].title } : null;
  }

  /** Which cases of each track have a value of a label. */
  private having(label: string, is: string): (track: number, row: number) => boolean {
    const found = this.part(label, is);
    if (!found) return () => false;
    const places = new Set(found.label.combinations.flatMap((own, place) => (own.includes(found.place) ? [place] : [])));
    const tracks = new Map(found.label.tracks.map((own) => [own.system, own.cases]));
    return (track, row) => places.has(tracks.get(this.tracks[track].system)?.[row] ?? -1);
  }

  /** How many of some systems get each mention; -1 where it does not count for one of them. */
  getters(tracks: readonly number[]): number[] {
    return this.piece.gold.start.map((_, g) => {
      const kinds = tracks.map((t) => this.kindOf(t, g));
      return kinds.includes(NOT_COUNTED) ? -1 : kinds.filter((kind) => kind === RIGHT).length;
    });
  }

  /** The cases that a filter leaves, in the order of the texts; `among` are the tracks that `who` is about. */
  filtered(asked: Filter, systems: readonly string[], among: readonly number[] = []): Case[] {
    const kinds = asked.kind ? asked.kind.split(",") : null;
    const error = asked.error ? this.piece.categories.indexOf(asked.error) : -1;
    const withError = error < 0 ? null : new Set(this.piece.combinations.flatMap((own, place) => (own.includes(error) ? [place] : [])));
    const entity = asked.entity ? this.place(asked.entity) : null;
    const doc = asked.doc ? this.doc(asked.doc) : -1;
    const pattern = asked.find ? expression(asked.find) : null;
    const typed = asked.type ? new Set(this.piece.types.flatMap((own, place) => (own.includes(asked.type!) ? [place] : []))) : null;
    const has = asked.label && asked.is ? this.having(asked.label, asked.is) : null;
    const test = WHO[asked.who ?? ""], getters = test && this.getters(among);
    const found: Case[] = [];
    const { gold } = this.piece;
    for (const [t, track] of this.tracks.entries()) {
      if (asked.system && systems[track.system] !== asked.system) continue;
      for (let row = 0; row < track.gold.length; row++) {
        const g = track.gold[row];
        if (doc >= 0 && track.document[row] !== doc) continue;
        if (kinds && !kinds.includes(this.piece.kinds[track.kind[row]])) continue;
        if (withError && !withError.has(track.errors[row])) continue;
        if (entity !== null && track.entity[row] !== entity && (g < 0 || gold.entity[g] !== entity)) continue;
        if (typed && (g < 0 || !typed.has(gold.types[g]))) continue;
        if (has && !has(t, row)) continue;
        if (getters && (g < 0 || this.byGold[t][g] !== row || !test(getters[g], among.length))) continue;
        if (asked.surface && this.surface({ track: t, row }) !== asked.surface && (g < 0 || this.goldSurface(g) !== asked.surface)) continue;
        if (pattern && !pattern(this.words({ track: t, row }))) continue;
        found.push({ track: t, row });
      }
    }
    return found.sort((a, b) => this.order(a, b));
  }

  order(a: Case, b: Case): number {
    const docs = this.tracks[a.track].document[a.row] - this.tracks[b.track].document[b.row];
    if (docs) return docs;
    const [one, two] = [this.span(a), this.span(b)];
    return one[0] - two[0] || one[1] - two[1] || a.track - b.track;
  }

  /** Everything that a search looks at. */
  private words(one: Case): string {
    const track = this.tracks[one.track];
    const g = track.gold[one.row];
    const linked = [track.entity[one.row], g < 0 ? NO_LINK : this.piece.gold.entity[g]];
    return [this.surface(one), ...linked.filter((e) => e >= 0).flatMap((e) => [this.name(e), this.id(e)])].join("\n");
  }

  /** Mentions that count for two systems, by who gets them. */
  flips(one: number, two: number): { only: [number[], number[]]; both: number; neither: number } {
    const only: [number[], number[]] = [[], []];
    let both = 0, neither = 0;
    for (let g = 0; g < this.piece.gold.start.length; g++) {
      const kinds = [one, two].map((t) => this.kindOf(t, g));
      if (kinds.includes(NOT_COUNTED)) continue;
      const [a, b] = kinds.map((kind) => kind === RIGHT);
      if (a && b) both++;
      else if (!a && !b) neither++;
      else only[a ? 0 : 1].push(g);
    }
    return { only, both, neither };
  }
}

/** A regular expression if it is one, else the words themselves, whatever their case. */
export function expression(text: string): (words: string) => boolean {
  const small = text.toLowerCase();
  const literal = (words: string) => words.toLowerCase().includes(small);
  // An address may come from anybody: repetitions of repetitions, which could take for ever, are taken letter by letter.
  if (text.length > 200 || /[+*}?]\)?[+*{]/.test(text)) return literal;
  try {
    const pattern = new RegExp(text, "imu");
    return (words) => pattern.test(words);
  } catch {
    return literal;
  }
}

export function counted<T>(items: Iterable<T>): [T, number][] {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

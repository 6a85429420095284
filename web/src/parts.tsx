// What all pages are made of.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { computed, signal } from "@preact/signals";
import type { BoardPiece, DatasetInfo } from "./shape";
import { type Asked, address, ask, but, route } from "./route";
import { Data, expression } from "./data";
import { Stretch } from "./text";
import * as source from "./source";

export const info = signal<BoardPiece | null>(null);

export const titleOf = (system: number): string => info.value!.systems[system].title;
export const nameOf = (system: number): string => info.value!.systems[system].name;
export const systemNames = (): string[] => info.value!.systems.map((one) => one.name);

/** Systems that are right everywhere, as one that gives the gold standard itself: they say nothing about the others. */
export const references = (): number[] => right.value;
const right = computed((): number[] => {
  const { systems, profiles, tables } = info.value!;
  const first = tables.find((one) => one.profile === profiles[0]?.name && one.measure === profiles[0].headline);
  const found = systems.map((_, system) => system).filter((system) => {
    const values = (first?.value ?? []).map((row) => row[system]).filter((value) => value !== null);
    return values.length > 0 && values.every((value) => value === 1);
  });
  return found.length < systems.length ? found : [];
});

/** Nothing is hidden, in an address: without a word systems that are right everywhere are. */
export const EVERYTHING = "-";

/** The systems that are left out of sight, on every page. */
export const hiddenSystems = (): Set<number> => gone.value;
const gone = computed((): Set<number> => {
  const { hide } = route.value.asked;
  if (hide === undefined) return new Set(references());
  const names = hide.split(",");
  return new Set(info.value!.systems.flatMap(({ name }, system) => (names.includes(name) ? [system] : [])));
});

/** Ask for other systems to be out of sight. */
export function hiding(systems: Iterable<number>): string {
  return [...systems].map(nameOf).join(",") || EVERYTHING;
}

export const seenSystems = (): number[] => { const gone = hiddenSystems(); return info.value!.systems.map((_, system) => system).filter((system) => !gone.has(system)); };

/** The tracks of the systems in sight; all if none of them has one. */
export function seenTracks(data: Data): number[] {
  const gone = hiddenSystems(), every = data.tracks.map((_, t) => t);
  const found = every.filter((t) => !gone.has(data.tracks[t].system));
  return found.length ? found : every;
}

/** Who is out of sight, and the way back. */
export function Hidden() {
  const gone = [...hiddenSystems()];
  if (!gone.length) return null;
  const right = route.value.asked.hide === undefined;
  const names = gone.length > 3 ? `${gone.length} systems` : gone.map(titleOf).join(", ");
  return <span class="quiet">{names}{right ? ", right everywhere," : ""} {gone.length === 1 || right ? "is" : "are"} left out: <a href={but({ hide: EVERYTHING })}>show</a></span>;
}

/** The dataset that a page is about: the one that is asked for, or the first of which there is what the page shows. */
export function chosenDataset(has: (one: DatasetInfo) => boolean = () => true): DatasetInfo | null {
  const { datasets } = info.value!;
  return datasets.find((one) => one.key === route.value.asked.dataset) ?? datasets.find(has) ?? datasets[0] ?? null;
}

export interface Loaded<T> {
  value?: T;
  problem?: Error;
}

/** What a promise gives; asked for again when the key changes. */
export function useLoaded<T>(make: () => Promise<T>, key: string): Loaded<T> {
  const [found, set] = useState<Loaded<T> & { key?: string }>({});
  useEffect(() => {
    let live = true;
    make().then(
      (value) => live && set({ value, key }),
      (problem: Error) => live && set({ problem, key }),
    );
    return () => void (live = false);
  }, [key]);
  return found.key === key ? found : {};
}

const known = new Map<string, Promise<Data>>();
function dataOf(key: string): Promise<Data> {
  const found = known.get(key) ?? source.cases(key).then((piece) => new Data(piece));
  known.set(key, found);
  return found;
}

/** All cases of a dataset, and what they are split by if the address asks for a part of them. */
export function useData(key: string): Loaded<Data> {
  const { label } = route.value.asked, split = label !== undefined && info.value!.datasets.some((one) => one.key === key && one.groups);
  return useLoaded(async () => {
    const data = await dataOf(key);
    if (split) data.split ??= await source.groups(key);
    return data;
  }, split ? `${key} split` : key);
}

/** The texts of some documents; documents without one are not there. */
export function useTexts(key: string, data: Data | undefined, docs: readonly number[]): Loaded<Map<number, Stretch[]>> {
  const blocks = data ? [...new Set(docs.map((doc) => data.piece.documents[doc].block).filter((block) => block >= 0))].sort((a, b) => a - b) : [];
  return useLoaded(async () => {
    const found = new Map<number, Stretch[]>();
    for (const piece of await Promise.all(blocks.map((block) => source.texts(key, block))))
      for (const own of piece.documents) found.set(own.document, own.stretches.map(([start, text]) => new Stretch(start, text)));
    return found;
  }, `${key}:${blocks.join(",")}`);
}

export function Wait<T>({ for: loaded, children }: { for: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (loaded.problem) return <><Missing heading says={loaded.problem.message} />{source.served() && <p><button type="button" onClick={() => location.reload()}>Try again</button></p>}</>;
  if (loaded.value === undefined) return <p class="quiet" role="status">Loading …</p>;
  return <>{children(loaded.value)}</>;
}

/** What is missing, and the command that makes it; a heading where the page has nothing else. */
export function Missing({ says, command, heading }: { says: string; command?: string; heading?: boolean }) {
  return (
    <div class="missing">
      {heading ? <h1 class="answer">{says}</h1> : <p>{says}</p>}
      {command && <pre>{command}</pre>}
    </div>
  );
}

export const percent = (value: number | null | undefined, digits = 1): string => (value === null || value === undefined ? "–" : (100 * value).toFixed(digits));
export const signed = (value: number): string => `${value < 0 ? "−" : "+"}${(100 * Math.abs(value)).toFixed(1)}`;
export const number = (value: number): string => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1));

/** A choice in words; what is chosen is in the address. */
export function Choice({ says, name, options, value, small }: { says: string; name: string; options: readonly (readonly [string, string])[]; value: string; small?: Asked }) {
  return (
    <label class="choice">
      <span>{says}</span>
      <select value={value} onChange={(event) => ask({ ...small, [name]: event.currentTarget.value })}>
        {options.map(([key, title]) => (
          <option value={key} key={key}>{title}</option>
        ))}
      </select>
    </label>
  );
}

export function Search({ says, name }: { says: string; name: string }) {
  return (
    <label class="choice">
      <span>{says}</span>
      <input type="search" value={route.value.asked[name] ?? ""} placeholder="all" spellcheck={false} onInput={(event) => ask({ [name]: event.currentTarget.value, more: "" }, true)} />
    </label>
  );
}

/** Some of many, found by search; what is chosen is in the address. */
export function Chooser({ says, options, chosen, set }: { says: string; options: readonly (readonly [string, string])[]; chosen: readonly string[]; set: (chosen: string[]) => void }) {
  const [find, look] = useState("");
  const holder = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const away = (event: Event) => { if (!holder.current?.contains(event.target as Node)) holder.current!.open = false; };
    addEventListener("pointerdown", away);
    addEventListener("focusin", away);
    return () => { removeEventListener("pointerdown", away); removeEventListener("focusin", away); };
  }, []);
  const keep = find ? expression(find) : () => true;
  const found = options.filter(([key, title]) => keep(`${key}\n${title}`));
  const toggle = (key: string) => set(options.map(([own]) => own).filter((own) => (own === key ? !chosen.includes(key) : chosen.includes(own))));
  return (
    <details class="chooser" ref={holder} onKeyDown={(event) => { if (event.key === "Escape") { holder.current!.open = false; holder.current!.querySelector("summary")!.focus(); } }}>
      <summary>{says} <b>{chosen.length === 1 ? options.find(([key]) => key === chosen[0])?.[1] ?? chosen[0] : `${chosen.length} of ${options.length}`}</b></summary>
      <div class="list">
        <label class="choice"><span>find</span><input type="search" value={find} spellcheck={false} onInput={(event) => look(event.currentTarget.value)} /></label>
        <p><button type="button" onClick={() => set(found.map(([key]) => key))}>{find ? `only these ${found.length}` : "all"}</button> <button type="button" onClick={() => set([])}>as at first</button></p>
        <ul>{found.map(([key, title]) => <li key={key}><label><input type="checkbox" checked={chosen.includes(key)} onChange={() => toggle(key)} />{title}</label></li>)}</ul>
        {!found.length && <p class="quiet">Nothing is called so.</p>}
      </div>
    </details>
  );
}

export function DatasetChoice({ has = () => true }: { has?: (one: DatasetInfo) => boolean }) {
  const options = info.value!.datasets.filter(has);
  const chosen = chosenDataset(has);
  if (options.length < 2) return <span class="choice">on <b>{chosen?.name}</b></span>;
  return <Choice says="on" name="dataset" value={chosen?.key ?? ""} options={options.map((one) => [one.key, one.name])} small={{ doc: "", at: "" }} />;
}

export function Bar_({ children }: { children: ComponentChildren }) {
  return <div class="bar">{children}</div>;
}

const BASES: readonly [RegExp, (id: string) => string][] = [
  [/^Q[1-9][0-9]{0,11}$/, (id) => `https://www.wikidata.org/wiki/${id}`],
  [/^https?:\/\/([a-z-]+\.)?(wikipedia|wikidata|dbpedia|yago-knowledge)\.org\//, (id) => id],
];

/** The page of an entity in its knowledge base, if that is a known one. */
export function outside(id: string): string | null {
  for (const [pattern, page] of BASES) if (pattern.test(id)) return page(id);
  return null;
}

/** An entity by its name, which opens its own page; with its id where another is called the same. */
export function Entity({ data, entity, dataset, told = data.hasNamesake(entity) }: { data: Data; entity: number; dataset: string; told?: boolean }): VNode {
  if (entity < 0) return <span class="quiet">{data.id(entity)}</span>;
  const id = data.id(entity);
  const link = <a href={address("entity", { dataset, entity: id })} title={data.description(entity) ?? id} dir="auto">{data.name(entity)}</a>;
  return told ? <>{link} <span class="quiet id">{id}</span></> : link;
}

/** The entity of a mention, and what else would be right. */
export function Golden({ data, mention, dataset }: { data: Data; mention: number; dataset: string }): VNode {
  const { entity, others } = data.piece.gold;
  return <>{[entity[mention], ...(others[mention] ?? [])].slice(0, 4).map((one, at) => <>{at > 0 && <span class="quiet"> or </span>}<Entity key={one} data={data} entity={one} dataset={dataset} /></>)}</>;
}

export const KIND_CLASS = ["right", "link", "span", "missed", "spurious", "free"];

export function Kind({ data, kind }: { data: Data; kind: number }) {
  return <span class={`kind ${KIND_CLASS[kind]}`}>{data.piece.kinds[kind]}</span>;
}

/** A mention within some words of its text. */
export function Within({ stretches, start, end, surface }: { stretches: Stretch[] | undefined; start: number; end: number; surface: string }) {
  const own = stretches?.find((one) => one.start <= start && end <= one.end);
  if (!own) return <b dir="auto">{surface}</b>;
  // Words are whole, where there are spaces between them.
  const cut = [start - 48 > own.start, end + 48 < own.end];
  const before = own.slice(start - 48, start).replace(/\s+/g, " ").replace(cut[0] ? /^[^ ]* / : "", "");
  const after = own.slice(end, end + 48).replace(/\s+/g, " ").replace(cut[1] ? / [^ ]*$/ : "", "");
  return (
    <span dir="auto" class="within">
      <span class="quiet">{cut[0] ? "…\u00a0" : ""}{before}</span>
      <b>{own.slice(start, end)}</b>
      <span class="quiet">{after}{cut[1] ? "\u00a0…" : ""}</span>
    </span>
  );
}

/** Show more of a long list; how much is in the address. */
export function More({ shown, all, what }: { shown: number; all: number; what: string }) {
  if (shown >= all) return null;
  return <p><a href={but({ more: Math.round(shown / 100) + 2 })}>Show more</a> <span class="quiet">({number(shown)} of {number(all)} {what})</span></p>;
}

export const many = (): number => 100 * Math.max(1, Number(route.value.asked.more) || 1);

// What all pages are made of.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import type { BoardPiece, DatasetInfo } from "./shape";
import { type Asked, address, ask, but, route } from "./route";
import { Data } from "./data";
import { Stretch } from "./text";
import * as source from "./source";

export const info = signal<BoardPiece | null>(null);

export const titleOf = (system: number): string => info.value!.systems[system].title;
export const nameOf = (system: number): string => info.value!.systems[system].name;
export const systemNames = (): string[] => info.value!.systems.map((one) => one.name);

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

export const useData = (key: string): Loaded<Data> => useLoaded(() => dataOf(key), key);

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
  if (loaded.problem) return <Missing says={loaded.problem.message} />;
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

export function DatasetChoice({ has = () => true }: { has?: (one: DatasetInfo) => boolean }) {
  const options = info.value!.datasets.filter(has);
  const chosen = chosenDataset(has);
  if (options.length < 2) return <span class="choice">on <b>{chosen?.name}</b></span>;
  return <Choice says="on" name="dataset" value={chosen?.key ?? ""} options={options.map((one) => [one.key, one.name])} small={{ doc: "", at: "" }} />;
}

export function Bar_({ children }: { children: ComponentChildren }) {
  return <div class="bar">{children}</div>;
}

/** A cell of a table: what is shown, and the same as plain text for copies. */
export interface Cell {
  plain: string;
  shown?: ComponentChildren;
  best?: boolean;
}

export interface Column {
  title: string;
  shown?: ComponentChildren;
  kind?: "text" | "number";
  minor?: boolean;
  sort?: string;
}

/** A table that can be copied; on small screens its rows are lists of the figures that matter. */
export function Sheet({ name, columns, rows, copy = true, sticky = true }: { name: string; columns: readonly Column[]; rows: readonly (readonly Cell[])[]; copy?: boolean; sticky?: boolean }) {
  const sorted = route.value.asked.sort;
  return (
    <>
      <div class="frame" tabIndex={0} role="region" aria-label={name}>
        <table class={sticky ? "sheet" : "sheet loose"}>
          <thead>
            <tr>
              {columns.map((column, place) => (
                <th key={place} scope="col" class={`${column.kind ?? "text"}${column.minor ? " minor" : ""}`} aria-sort={column.sort && sorted === column.sort ? "descending" : undefined}>
                  {column.sort ? <a href={but({ sort: sorted === column.sort ? "" : column.sort })}>{column.shown ?? column.title}{sorted === column.sort ? " ↓" : ""}</a> : (column.shown ?? column.title)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, place) => {
                  const column = columns[place];
                  const own = `${column.kind ?? "text"}${column.minor ? " minor" : ""}${cell.best ? " best" : ""}`;
                  const content = cell.shown ?? cell.plain;
                  return place === 0 ? <th key={place} scope="row" class={own}>{content}</th> : <td key={place} class={own} data-label={column.title}>{content}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {copy && <CopyAs columns={columns} rows={rows} />}
    </>
  );
}

const tex = (text: string): string => text.replace(/[\\{}$&#^_%~]/g, (letter) => ({ "\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}" })[letter] ?? `\\${letter}`);

const LAYOUTS: Record<string, (head: readonly Column[], rows: readonly (readonly Cell[])[]) => string> = {
  TSV: (head, rows) => [head.map((column) => column.title), ...rows.map((row) => row.map((cell) => cell.plain))].map((row) => row.map((cell) => cell.replace(/[\t\n]/g, " ")).join("\t")).join("\n"),
  Markdown: (head, rows) => {
    const line = (cells: string[]) => `| ${cells.map((cell) => cell.replace(/\|/g, "\\|").replace(/\n/g, " ")).join(" | ")} |`;
    return [line(head.map((column) => column.title)), line(head.map((column) => (column.kind === "number" ? "---:" : "---"))), ...rows.map((row) => line(row.map((cell) => (cell.best ? `**${cell.plain}**` : cell.plain))))].join("\n");
  },
  LaTeX: (head, rows) => {
    const line = (cells: string[]) => `${cells.join(" & ")} \\\\`;
    const body = rows.map((row) => line(row.map((cell) => (cell.best ? `\\textbf{${tex(cell.plain)}}` : tex(cell.plain)))));
    return [`\\begin{tabular}{${head.map((column) => (column.kind === "number" ? "r" : "l")).join("")}}`, "\\toprule", line(head.map((column) => tex(column.title))), "\\midrule", ...body, "\\bottomrule", "\\end{tabular}"].join("\n");
  },
};

export function CopyAs({ columns, rows }: { columns: readonly Column[]; rows: readonly (readonly Cell[])[] }) {
  const [done, set] = useState("");
  return (
    <p class="copy quiet">
      Copy as{" "}
      {Object.entries(LAYOUTS).map(([name, layout], place) => (
        <>
          {place > 0 && ", "}
          <button type="button" key={name} onClick={() => copied(layout(columns, rows)).then(() => set(name))}>{name}</button>
        </>
      ))}
      <span role="status">{done && ` ${done} copied`}</span>
    </p>
  );
}

async function copied(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
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

/** An entity by its name, which opens its own page. */
export function Entity({ data, entity, dataset }: { data: Data; entity: number; dataset: string }): VNode {
  if (entity < 0) return <span class="quiet">{data.id(entity)}</span>;
  const id = data.id(entity);
  return <a href={address("entity", { dataset, entity: id })} title={id} dir="auto">{data.name(entity)}</a>;
}

export const KIND_CLASS = ["right", "link", "span", "missed", "spurious", "free"];

export function Kind({ data, kind }: { data: Data; kind: number }) {
  return <span class={`kind ${KIND_CLASS[kind]}`}>{data.piece.kinds[kind]}</span>;
}

/** A mention within some words of its text. */
export function Within({ stretches, start, end, surface }: { stretches: Stretch[] | undefined; start: number; end: number; surface: string }) {
  const own = stretches?.find((one) => one.start <= start && end <= one.end);
  if (!own) return <b dir="auto">{surface}</b>;
  const before = own.slice(start - 48, start).replace(/\s+/g, " "), after = own.slice(end, end + 48).replace(/\s+/g, " ");
  return (
    <span dir="auto" class="within">
      <span class="quiet">{start - 48 > own.start ? "…" : ""}{before}</span>
      <b>{own.slice(start, end)}</b>
      <span class="quiet">{after}{end + 48 < own.end ? "…" : ""}</span>
    </span>
  );
}

/** Show more of a long list; how much is in the address. */
export function More({ shown, all, what }: { shown: number; all: number; what: string }) {
  if (shown >= all) return null;
  return <p><a href={but({ more: Math.round(shown / 100) + 2 })}>Show more</a> <span class="quiet">({number(shown)} of {number(all)} {what})</span></p>;
}

export const many = (): number => 100 * Math.max(1, Number(route.value.asked.more) || 1);

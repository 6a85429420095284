// Tables: shown, sorted, copied as text and saved as pictures.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { but, route } from "./route";
import { saveDrawing } from "./picture";

/** A cell of a table: what is shown, and the same as plain text for copies. */
export interface Cell {
  plain: string;
  shown?: ComponentChildren;
  best?: boolean;
  /** Not best, and yet nobody is significantly better. */
  tied?: boolean;
  /** How strongly the cell is shaded, from 0 to 1. */
  heat?: number;
  /** Low end, value and high end of an interval, on the scale of its column from 0 to 1. */
  interval?: readonly [number, number, number];
}

export interface Column {
  title: string;
  shown?: ComponentChildren;
  kind?: "text" | "number";
  /** Left out on small screens. */
  minor?: boolean;
  sort?: string;
  /** Columns of one group stand together under its name. */
  group?: string;
}

type Rows = readonly (readonly Cell[])[];

/** What a table is sorted by: the column, and whether the smallest stands first. */
export function sorting(): { by: string; up: boolean } {
  const asked = route.value.asked.sort ?? "";
  return asked.startsWith("-") ? { by: asked.slice(1), up: true } : { by: asked, up: false };
}

/** Numbers by what a table is sorted by; what has none stands last. */
export function ranked<T>(rows: readonly T[], value: (row: T) => number | null): T[] {
  const sign = sorting().up ? 1 : -1;
  const known = new Map(rows.map((row) => [row, value(row)]));
  return [...rows].sort((a, b) => {
    const [one, two] = [known.get(a) ?? null, known.get(b) ?? null];
    return one === null || two === null ? Number(one === null) - Number(two === null) : sign * (one - two);
  });
}

/** A table that can be copied; on small screens its rows are lists of the figures that matter. */
export function Sheet({ name, columns, rows, copy = true, lines = false }: { name: string; columns: readonly Column[]; rows: Rows; copy?: boolean; lines?: boolean }) {
  return (
    <>
      <div class="frame" tabIndex={0} role="region" aria-label={name}>
        <table class={lines ? "sheet lines" : "sheet"}>
          <Head columns={columns} />
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, place) => {
                  const column = columns[place];
                  const own = `${classOf(column)}${cell.best ? " best" : ""}${cell.tied ? " tied" : ""}${cell.heat === undefined ? "" : " heated"}`;
                  const style = cell.heat === undefined ? undefined : { "--heat": cell.heat.toFixed(2) };
                  const content = cell.shown ?? cell.plain;
                  return place === 0 ? <th key={place} scope="row" class={own}>{content}</th> : <td key={place} class={own} style={style} data-label={labelOf(column)}>{content}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {copy && <CopyAs name={name} columns={columns} rows={rows} />}
    </>
  );
}

const classOf = (column: Column): string => `${column.kind ?? "text"}${column.minor ? " minor" : ""}`;
const labelOf = (column: Column): string => (column.group ? `${column.group}, ${column.title}` : column.title);

/** Columns that stand side by side and are of one group. */
function spans(columns: readonly Column[]): { group: string; width: number }[] {
  const found: { group: string; width: number }[] = [];
  for (const { group = "" } of columns) {
    const last = found.at(-1);
    if (last && last.group === group) last.width++;
    else found.push({ group, width: 1 });
  }
  return found;
}

function Head({ columns }: { columns: readonly Column[] }) {
  const { by, up } = sorting();
  return (
    <thead>
      {columns.some((column) => column.group) && <tr>{spans(columns).map(({ group, width }, place) => (group ? <th key={place} scope="colgroup" colSpan={width} class="group">{group}</th> : <td key={place} colSpan={width} />))}</tr>}
      <tr>
        {columns.map((column, place) => {
          const own = column.sort !== undefined && column.sort === by;
          const shown = column.shown ?? column.title;
          return (
            <th key={place} scope="col" class={classOf(column)} aria-sort={own ? (up ? "ascending" : "descending") : undefined}>
              {column.sort ? <a href={but({ sort: own ? (up ? "" : `-${column.sort}`) : column.sort })}>{shown}{own ? (up ? " ↑" : " ↓") : ""}</a> : shown}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

const tex = (text: string): string => text.replace(/[\\{}$&#^_%~]/g, (letter) => ({ "\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}" })[letter] ?? `\\${letter}`);
const flat = (text: string): string => text.replace(/\s+/g, " ");

/** Tables as text, for papers and sheets. */
const LAYOUTS: Record<string, (head: readonly Column[], rows: Rows) => string> = {
  TSV: (head, rows) => [head.map(labelOf), ...rows.map((row) => row.map((cell) => cell.plain))].map((row) => row.map(flat).join("\t")).join("\n"),
  Markdown: (head, rows) => {
    const line = (cells: string[]) => `| ${cells.map((cell) => flat(cell).replace(/\|/g, "\\|")).join(" | ")} |`;
    return [line(head.map(labelOf)), line(head.map((column) => (column.kind === "number" ? "---:" : "---"))), ...rows.map((row) => line(row.map((cell) => (cell.best ? `**${cell.plain}**` : cell.plain))))].join("\n");
  },
  LaTeX: (head, rows) => {
    const line = (cells: string[]) => `${cells.join(" & ")} \\\\`;
    const shade = ({ heat }: Cell) => (heat === undefined ? "" : `\\cellcolor{black!${Math.round(45 * heat)}}`);
    const body = rows.map((row) => line(row.map((cell) => shade(cell) + (cell.best ? `\\textbf{${tex(cell.plain)}}` : cell.tied ? `\\underline{${tex(cell.plain)}}` : tex(cell.plain)))));
    const needs = rows.some((row) => row.some((cell) => cell.heat !== undefined)) ? ["% \\usepackage{booktabs} and \\usepackage[table]{xcolor}"] : [];
    const groups = head.some((column) => column.group) ? [line(spans(head).map(({ group, width }) => (group ? `\\multicolumn{${width}}{c}{${tex(group)}}` : Array(width - 1).fill("&").join(" "))))] : [];
    return [...needs, `\\begin{tabular}{${head.map((column) => (column.kind === "number" ? "r" : "l")).join("")}}`, "\\toprule", ...groups, line(head.map((column) => tex(column.title))), "\\midrule", ...body, "\\bottomrule", "\\end{tabular}"].join("\n");
  },
};

function CopyAs({ name, columns, rows }: { name: string; columns: readonly Column[]; rows: Rows }) {
  const [done, set] = useState("");
  const save = (kind: "SVG" | "PNG") => saveDrawing(drawn(columns, rows), name, kind).then(() => set(`${kind} saved`), (problem: Error) => set(problem.message));
  return (
    <p class="copy quiet">
      Copy as{" "}
      {Object.entries(LAYOUTS).map(([kind, layout]) => (
        <><button type="button" key={kind} onClick={() => copied(layout(columns, rows)).then(() => set(`${kind} copied`))}>{kind}</button>, </>
      ))}
      save as <button type="button" onClick={() => save("SVG")}>SVG</button>, <button type="button" onClick={() => save("PNG")}>PNG</button>
      <span role="status">{done && ` · ${done}`}</span>
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

const FONT = "14px system-ui, sans-serif";
const [LINE, GAP] = [26, 18];

/** A table as a drawing of its own, in the colours of paper. */
function drawn(columns: readonly Column[], rows: Rows): string {
  const pen = document.createElement("canvas").getContext("2d")!;
  pen.font = FONT;
  const words = (text: string) => { const one = flat(text); return one.length > 60 ? `${one.slice(0, 59)}…` : one; };
  const wide = columns.map((column, place) => Math.max(rows.some((row) => row[place].interval) ? 84 : 24, ...[column.title, ...rows.map((row) => row[place].plain)].map((text) => pen.measureText(words(text)).width * 1.06)));
  const from = wide.map((_, place) => GAP + wide.slice(0, place).reduce((sum, one) => sum + one + GAP, 0));
  const grouped = columns.some((column) => column.group) ? 1 : 0, tall = rows.some((row) => row.some((cell) => cell.interval)) ? LINE + 8 : LINE;
  const width = from.at(-1)! + wide.at(-1)! + GAP, height = LINE * (1 + grouped) + tall * rows.length + 2 * GAP;
  const text = (x: number, y: number, said: string, more = "") => `<text x="${x.toFixed(1)}" y="${y}" ${more}>${words(said).replace(/[<>&]/g, (letter) => `&#${letter.charCodeAt(0)};`)}</text>`;
  const rule = (y: number, colour: string) => `<line x1="${GAP}" x2="${width - GAP}" y1="${y}" y2="${y}" stroke="${colour}"/>`;
  const put = (place: number, y: number, said: string, more = "") => (columns[place].kind === "number" ? text(from[place] + wide[place], y, said, `text-anchor="end" ${more}`) : text(from[place], y, said, more));
  const made = [`<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" font-family="system-ui, sans-serif" font-size="14" fill="#1c1c1a"><rect width="100%" height="100%" fill="#fff"/>`];
  let place = 0;
  if (grouped) for (const { group, width: count } of spans(columns)) {
    const end = place + count - 1;
    if (group) made.push(text((from[place] + from[end] + wide[end]) / 2, GAP + 14, group, 'text-anchor="middle" fill="#63635e"'));
    place += count;
  }
  const top = GAP + LINE * (1 + grouped);
  columns.forEach((column, at) => made.push(put(at, top - 10, column.title, 'fill="#63635e"')));
  made.push(rule(top, "#63635e"));
  rows.forEach((row, at) => {
    const y = top + tall * at;
    row.forEach((cell, at) => {
      if (cell.heat !== undefined) made.push(`<rect x="${from[at] - GAP / 2}" y="${y}" width="${wide[at] + GAP}" height="${tall}" fill="#0a5a7d" fill-opacity="${(0.35 * cell.heat).toFixed(3)}"/>`);
      made.push(put(at, y + 18, cell.tied ? `≈ ${cell.plain}` : cell.plain, cell.best ? 'font-weight="bold"' : ""));
      if (!cell.interval) return;
      const [low, value, high] = cell.interval.map((one) => (from[at] + one * wide[at]).toFixed(1));
      made.push(`<line x1="${low}" x2="${high}" y1="${y + 26}" y2="${y + 26}" stroke="#63635e"/><line x1="${value}" x2="${value}" y1="${y + 22}" y2="${y + 30}" stroke="#0a5a7d" stroke-width="2"/>`);
    });
    made.push(rule(y + tall, "#dcdcd6"));
  });
  return `${made.join("")}</svg>`;
}

// Tables that can be sorted, copied and saved.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { escapeXml, saveDrawing } from "./drawing";
import { currentUrl, route, updateQuery } from "./route";

/** A table cell: plain text for copies, and the content to display if it differs. */
export interface Cell {
  text: string;
  content?: ComponentChildren;
  isBest?: boolean;
  /** A score that is not the best: no visible system is significantly better (≈), or some were not tested (?). */
  mark?: "≈" | "?";
  /** Strength of the shading, from 0 to 1. */
  heat?: number;
  /** Lower bound, value and upper bound, scaled to 0 to 1. */
  interval?: readonly [number, number, number];
}

/** The text of a cell with its mark. */
const markedText = ({ mark, text }: Cell): string => (mark ? `${mark} ${text}` : text);

export interface Column {
  title: string;
  content?: ComponentChildren;
  kind?: "text" | "number";
  /** One of the columns of which small screens show the chosen one. */
  isMinor?: boolean;
  sortKey?: string;
  /** Heading that adjacent columns share. */
  group?: string;
  /** Content after the title, outside the link that sorts. */
  extra?: ComponentChildren;
}

type Rows = readonly (readonly Cell[])[];

/** Read the sort order of the tables from the query. */
export function getSortOrder(): { key: string; isAscending: boolean } {
  const sortText = route.value.query.sort ?? "";
  return sortText.startsWith("-")
    ? { key: sortText.slice(1), isAscending: true }
    : { key: sortText, isAscending: false };
}

/** Sort rows by a value in the order of the query, rows without a value last. */
export function rankRows<T>(rows: readonly T[], getValue: (row: T) => number | null): T[] {
  const sign = getSortOrder().isAscending ? 1 : -1;
  const values = new Map(rows.map((row) => [row, getValue(row)]));
  return [...rows].sort((a, b) => {
    const [valueA, valueB] = [values.get(a) ?? null, values.get(b) ?? null];
    return valueA === null || valueB === null
      ? Number(valueA === null) - Number(valueB === null)
      : sign * (valueA - valueB);
  });
}

/** Width up to which a column of a kind grows, in rem: wider tables would tear their rows apart. */
const MAX_WIDTHS = { text: 30, number: 12 };

/** Watch whether a table is wider than its frame, which then scrolls in both directions. */
function useOverflow() {
  const frame = useRef<HTMLDivElement>(null);
  const [isOverflowing, setOverflowing] = useState(false);
  useLayoutEffect(() => {
    const measure = () => {
      const table = frame.current!.firstElementChild as HTMLElement;
      setOverflowing(table.offsetWidth > frame.current!.clientWidth);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(frame.current!);
    observer.observe(frame.current!.firstElementChild!);
    return () => observer.disconnect();
  }, []);
  return { frame, isOverflowing };
}

/** Get the minor column that small screens show: the chosen one, or else the one that sorts the table. */
function getChosenColumn(minorColumns: readonly Column[]): Column | undefined {
  const { key } = getSortOrder();
  return (
    minorColumns.find((column) => columnLabel(column) === route.value.query.column) ??
    minorColumns.find((column) => column.sortKey !== undefined && column.sortKey === key) ??
    minorColumns.find((column) => column.sortKey !== undefined) ??
    minorColumns[0]
  );
}

/** A choice of the column that small screens show. */
function ColumnSelect({ columns, chosenColumn }: { columns: readonly Column[]; chosenColumn: Column }) {
  return (
    <label class="choice column-choice">
      <span>column</span>
      <select
        value={columnLabel(chosenColumn)}
        onChange={(event) => updateQuery({ column: event.currentTarget.value }, true)}
      >
        {columns.map((column, index) => (
          <option key={index} value={columnLabel(column)}>
            {columnLabel(column)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A table with buttons to copy and save it; on small screens each row becomes a list. */
export function Sheet({
  name,
  columns,
  rows,
  canCopy = true,
  hasIntervals = false,
}: {
  name: string;
  columns: readonly Column[];
  rows: Rows;
  canCopy?: boolean;
  hasIntervals?: boolean;
}) {
  const { frame, isOverflowing } = useOverflow();
  const minorColumns = columns.filter((column) => column.isMinor),
    chosenColumn = getChosenColumn(minorColumns);
  const maxWidth = columns.reduce((sum, column) => sum + MAX_WIDTHS[column.kind ?? "text"], 0);
  return (
    <>
      {minorColumns.length > 1 && <ColumnSelect columns={minorColumns} chosenColumn={chosenColumn!} />}
      <div
        class={isOverflowing ? "table-frame scrolling" : "table-frame"}
        ref={frame}
        tabIndex={isOverflowing ? 0 : undefined}
        role="region"
        aria-label={name}
      >
        <table class={hasIntervals ? "sheet lines" : "sheet"} style={{ maxWidth: `${maxWidth}rem` }}>
          <TableHead columns={columns} chosenColumn={chosenColumn} />
          <tbody>
            {rows.map((row, rowIndex) => (
              <tr key={rowIndex}>
                {row.map((cell, index) => {
                  const column = columns[index];
                  const className = [
                    columnClass(column, chosenColumn),
                    cell.isBest && "best",
                    cell.mark === "≈" && "tied",
                    cell.heat !== undefined && "heated",
                  ]
                    .filter(Boolean)
                    .join(" ");
                  const style = cell.heat === undefined ? undefined : { "--heat": cell.heat.toFixed(2) };
                  const content = cell.content ?? cell.text;
                  return index === 0 ? (
                    <th key={index} scope="row" class={className}>
                      {content}
                    </th>
                  ) : (
                    <td key={index} class={className} style={style} data-label={columnLabel(column)}>
                      {content}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {canCopy && <CopyButtons name={name} columns={columns} rows={rows} />}
    </>
  );
}

const columnClass = (column: Column, chosenColumn: Column | undefined): string =>
  `${column.kind ?? "text"}${column.isMinor && column !== chosenColumn ? " minor" : ""}`;
const columnLabel = (column: Column): string => (column.group ? `${column.group}, ${column.title}` : column.title);

/** Group adjacent columns by their heading. */
function groupColumns(columns: readonly Column[]): { group: string; width: number }[] {
  const groups: { group: string; width: number }[] = [];
  for (const { group = "" } of columns) {
    const lastGroup = groups.at(-1);
    if (lastGroup && lastGroup.group === group) lastGroup.width++;
    else groups.push({ group, width: 1 });
  }
  return groups;
}

function TableHead({ columns, chosenColumn }: { columns: readonly Column[]; chosenColumn: Column | undefined }) {
  const { key, isAscending } = getSortOrder();
  return (
    <thead>
      {columns.some((column) => column.group) && (
        <tr>
          {groupColumns(columns).map(({ group, width }, index) =>
            group ? (
              <th key={index} scope="colgroup" colSpan={width} class="group">
                {group}
              </th>
            ) : (
              <td key={index} colSpan={width} />
            ),
          )}
        </tr>
      )}
      <tr>
        {columns.map((column, index) => {
          const isSorted = column.sortKey !== undefined && column.sortKey === key;
          const content = column.content ?? column.title;
          return (
            <th
              key={index}
              scope="col"
              class={columnClass(column, chosenColumn)}
              aria-sort={isSorted ? (isAscending ? "ascending" : "descending") : undefined}
            >
              {column.sortKey ? (
                <a href={currentUrl({ sort: isSorted ? (isAscending ? "" : `-${column.sortKey}`) : column.sortKey })}>
                  {content}
                  {isSorted ? (isAscending ? " ↑" : " ↓") : ""}
                </a>
              ) : (
                content
              )}
              {column.extra && <> {column.extra}</>}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

const escapeLatex = (text: string): string =>
  text.replace(
    /[\\{}$&#^_%~]/g,
    (char) => ({ "\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}" })[char] ?? `\\${char}`,
  );
const collapseSpaces = (text: string): string => text.replace(/\s+/g, " ");

/** Text formats of a table. */
const FORMATTERS: Record<string, (columns: readonly Column[], rows: Rows) => string> = {
  TSV: (columns, rows) =>
    [columns.map(columnLabel), ...rows.map((row) => row.map((cell) => cell.text))]
      .map((row) => row.map(collapseSpaces).join("\t"))
      .join("\n"),
  Markdown: (columns, rows) => {
    const formatLine = (cells: string[]) =>
      `| ${cells.map((cell) => collapseSpaces(cell).replace(/\|/g, "\\|")).join(" | ")} |`;
    return [
      formatLine(columns.map(columnLabel)),
      formatLine(columns.map((column) => (column.kind === "number" ? "---:" : "---"))),
      ...rows.map((row) => formatLine(row.map((cell) => (cell.isBest ? `**${cell.text}**` : markedText(cell))))),
    ].join("\n");
  },
  LaTeX: (columns, rows) => {
    const formatLine = (cells: string[]) => `${cells.join(" & ")} \\\\`;
    const shadeCommand = ({ heat }: Cell) => (heat === undefined ? "" : `\\cellcolor{black!${Math.round(45 * heat)}}`);
    const body = rows.map((row) =>
      formatLine(
        row.map(
          (cell) =>
            shadeCommand(cell) +
            (cell.isBest
              ? `\\textbf{${escapeLatex(cell.text)}}`
              : cell.mark === "≈"
                ? `\\underline{${escapeLatex(cell.text)}}`
                : escapeLatex(markedText(cell))),
        ),
      ),
    );
    const packages = rows.some((row) => row.some((cell) => cell.heat !== undefined))
      ? ["% \\usepackage{booktabs} and \\usepackage[table]{xcolor}"]
      : [];
    const groups = columns.some((column) => column.group)
      ? [
          formatLine(
            groupColumns(columns).map(({ group, width }) =>
              group
                ? `\\multicolumn{${width}}{c}{${escapeLatex(group)}}`
                : Array(width - 1)
                    .fill("&")
                    .join(" "),
            ),
          ),
        ]
      : [];
    return [
      ...packages,
      `\\begin{tabular}{${columns.map((column) => (column.kind === "number" ? "r" : "l")).join("")}}`,
      "\\toprule",
      ...groups,
      formatLine(columns.map((column) => escapeLatex(column.title))),
      "\\midrule",
      ...body,
      "\\bottomrule",
      "\\end{tabular}",
    ].join("\n");
  },
};

function CopyButtons({ name, columns, rows }: { name: string; columns: readonly Column[]; rows: Rows }) {
  const [status, setStatus] = useState("");
  const saveTable = (kind: "SVG" | "PNG") =>
    saveDrawing(drawTable(columns, rows), name, kind).then(
      () => setStatus(`${kind} saved`),
      (error: Error) => setStatus(error.message),
    );
  return (
    <p class="copy quiet">
      Copy as{" "}
      {Object.entries(FORMATTERS).map(([kind, format]) => (
        <>
          <button
            type="button"
            key={kind}
            onClick={() => copyText(format(columns, rows)).then(() => setStatus(`${kind} copied`))}
          >
            {kind}
          </button>
          ,{" "}
        </>
      ))}
      save as{" "}
      <button type="button" onClick={() => saveTable("SVG")}>
        SVG
      </button>
      ,{" "}
      <button type="button" onClick={() => saveTable("PNG")}>
        PNG
      </button>
      <span role="status">{status && ` · ${status}`}</span>
    </p>
  );
}

async function copyText(text: string): Promise<void> {
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

/** Draw a table as SVG on white. */
function drawTable(columns: readonly Column[], rows: Rows): string {
  const pen = document.createElement("canvas").getContext("2d")!;
  pen.font = FONT;
  const shortenText = (text: string) => {
    const line = collapseSpaces(text);
    return line.length > 60 ? `${line.slice(0, 59)}…` : line;
  };
  const widths = columns.map((column, index) =>
    Math.max(
      rows.some((row) => row[index].interval) ? 84 : 24,
      ...[column.title, ...rows.map((row) => row[index].text)].map(
        (text) => pen.measureText(shortenText(text)).width * 1.06,
      ),
    ),
  );
  const offsets = widths.map((_, index) => GAP + widths.slice(0, index).reduce((sum, width) => sum + width + GAP, 0));
  const groupRows = columns.some((column) => column.group) ? 1 : 0,
    rowHeight = rows.some((row) => row.some((cell) => cell.interval)) ? LINE + 8 : LINE;
  const width = offsets.at(-1)! + widths.at(-1)! + GAP,
    height = LINE * (1 + groupRows) + rowHeight * rows.length + 2 * GAP;
  const drawText = (x: number, y: number, label: string, attributes = "") =>
    `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escapeXml(shortenText(label))}</text>`;
  const drawRule = (y: number, colour: string) =>
    `<line x1="${GAP}" x2="${width - GAP}" y1="${y}" y2="${y}" stroke="${colour}"/>`;
  const drawCell = (index: number, y: number, label: string, attributes = "") =>
    columns[index].kind === "number"
      ? drawText(offsets[index] + widths[index], y, label, `text-anchor="end" ${attributes}`)
      : drawText(offsets[index], y, label, attributes);
  const elements = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" ` +
      'font-family="system-ui, sans-serif" font-size="14" fill="#1c1c1a">',
    '<rect width="100%" height="100%" fill="#fff"/>',
  ];
  let index = 0;
  if (groupRows)
    for (const { group, width: count } of groupColumns(columns)) {
      const end = index + count - 1;
      if (group)
        elements.push(
          drawText(
            (offsets[index] + offsets[end] + widths[end]) / 2,
            GAP + 14,
            group,
            'text-anchor="middle" fill="#63635e"',
          ),
        );
      index += count;
    }
  const top = GAP + LINE * (1 + groupRows);
  for (const [columnIndex, column] of columns.entries())
    elements.push(drawCell(columnIndex, top - 10, column.title, 'fill="#63635e"'));
  elements.push(drawRule(top, "#63635e"));
  rows.forEach((row, rowIndex) => {
    const y = top + rowHeight * rowIndex;
    row.forEach((cell, columnIndex) => {
      if (cell.heat !== undefined)
        elements.push(
          `<rect x="${offsets[columnIndex] - GAP / 2}" y="${y}" width="${widths[columnIndex] + GAP}" ` +
            `height="${rowHeight}" fill="#0a5a7d" fill-opacity="${(0.35 * cell.heat).toFixed(3)}"/>`,
        );
      elements.push(drawCell(columnIndex, y + 18, markedText(cell), cell.isBest ? 'font-weight="bold"' : ""));
      if (!cell.interval) return;
      const [low, value, high] = cell.interval.map((share) =>
        (offsets[columnIndex] + share * widths[columnIndex]).toFixed(1),
      );
      elements.push(
        `<line x1="${low}" x2="${high}" y1="${y + 26}" y2="${y + 26}" stroke="#63635e"/>`,
        `<line x1="${value}" x2="${value}" y1="${y + 22}" y2="${y + 30}" stroke="#0a5a7d" stroke-width="2"/>`,
      );
    });
    elements.push(drawRule(y + rowHeight, "#dcdcd6"));
  });
  return `${elements.join("")}</svg>`;
}

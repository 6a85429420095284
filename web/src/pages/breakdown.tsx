// The board by error categories or by what mentions are: systems on one dataset, shaded column by column.
import type { ComponentChildren } from "preact";
import type { DatasetInfo, GroupsPiece } from "../shape";
import { address, ask, route } from "../route";
import { Bar_, Choice, Chooser, info, Missing, nameOf, number, percent, titleOf, useLoaded, Wait } from "../parts";
import { type Cell, type Column, ranked, Sheet, sorting } from "../sheet";
import { NoCases } from "./cases";
import * as source from "../source";

interface Given {
  dataset: DatasetInfo;
  rows: readonly number[];
  name: (system: number) => Cell;
  controls: ComponentChildren;
  last: ComponentChildren;
}

/** A column: what it is called, a number for each system with the words for it, and where its cells lead. */
interface Part {
  key: string;
  title: string;
  note?: string;
  says: string;
  value: (system: number) => number | null;
  told: (system: number) => string;
  target: (system: number) => string | null;
}

const FEW = 8;

function Parts({ what, head, parts, usual, rows, name, controls, last, more, says, worse }: Given & { what: string; head: ComponentChildren; parts: readonly Part[]; usual: readonly string[]; more?: ComponentChildren; says: string; worse: boolean }) {
  const { asked } = route.value;
  const given = (asked.columns ?? "").split("|").filter((key) => parts.some((part) => part.key === key));
  const chosen = given.length ? given : usual;
  const shown = parts.filter((part) => chosen.includes(part.key));
  const by = shown.find((part) => part.key === sorting().by);
  const ordered = by ? ranked(rows, by.value) : rows;
  const columns: Column[] = [{ title: "system" }, ...shown.map((part, at): Column => ({ title: part.title, kind: "number", sort: part.key, minor: at >= 6, shown: <span title={part.says}>{part.title.split(":").map((words, at) => (at ? <>:<wbr />{words}</> : words))}{part.note && <><br /><span class="quiet">{part.note}</span></>}</span> }))];
  const body = ordered.map((system): Cell[] => [
    name(system),
    ...shown.map((part): Cell => {
      const every = rows.map(part.value).filter((value) => value !== null), value = part.value(system);
      const low = Math.min(...every), high = Math.max(...every);
      const heat = value === null || high === low ? undefined : (value - low) / (high - low);
      const text = part.told(system), target = value === null ? null : part.target(system);
      return { plain: text, heat, best: value !== null && high > low && value === (worse ? low : high), shown: target ? <a href={target}><span class="figure">{text}</span></a> : <span class="figure">{text}</span> };
    }),
  ]);
  return (
    <>
      <h1 class="answer">{head}</h1>
      <Bar_>
        {controls}
        <Chooser says={what} options={parts.map((part) => [part.key, part.title])} chosen={chosen} set={(keys) => ask({ columns: keys.join("|") })} />
        {more}
        {last}
      </Bar_>
      <Sheet name="Board" columns={columns} rows={body} />
      <p class="quiet says">{says} Darker is more, column by column; bold is best.{parts.some((part) => rows.some(part.target)) && " Each number opens its cases."}</p>
    </>
  );
}

/** How often each category of error happens to each system. */
export function ByCategory(given: Given) {
  const { dataset } = given;
  const place = info.value!.datasets.indexOf(dataset);
  const loaded = useLoaded(source.errors, "errors");
  return (
    <Wait for={loaded}>
      {(piece) => {
        const rates = route.value.asked.by !== "count";
        const counts = new Map(piece.counts.filter((one) => one.dataset === place).map((one) => [one.system, one]));
        if (!counts.size) return <><Bar_>{given.controls}</Bar_><NoCases /></>;
        const parts = piece.categories.map((category, at): Part => {
          const value = (system: number) => { const own = counts.get(system), errors = own?.errors[at] ?? null; return errors === null ? null : rates ? (own!.total[at] ? errors / own!.total[at]! : null) : errors; };
          return { key: category.name, title: category.title, says: `${category.says} ${category.among}`, value, told: (system) => (rates ? percent(value(system)) : value(system) === null ? "–" : number(value(system)!)), target: (system) => address("cases", { dataset: dataset.key, system: nameOf(system), error: category.name }) };
        }).filter((part) => given.rows.some((system) => part.value(system)));
        const heads = piece.categories.filter((one, at, all) => all.findIndex((other) => other.group === one.group) === at).map((one) => one.name);
        const usual = parts.filter((part, at) => heads.includes(part.key) || at < FEW).map((part) => part.key);
        return <Parts {...given} what="categories" head={<>How often each kind of error happens to each system on <b>{dataset.name}</b>.</>} parts={parts} usual={usual} worse says={rates ? "Errors in percent of the cases in which they could happen." : "Numbers of errors."} more={<Choice says="as" name="by" value={rates ? "" : "count"} options={[["", "shares"], ["count", "numbers"]]} />} />;
      }}
    </Wait>
  );
}

const MEASURES: readonly (readonly [string, string, string])[] = [["f1", "F1", "micro.f1"], ["p", "Precision", "micro.p"], ["r", "Recall", "micro.r"]];

/** How good each system is on what: by types, by fine-grained categories, by what mentions are. */
export function ByLabel(given: Given) {
  const { dataset } = given;
  if (!dataset.groups) return <><Bar_>{given.controls}</Bar_><Missing heading says="The scores are not split by what mentions are. Gold and answers are, by what the gold standard says of its mentions:" command="karat report --gold GOLD ANSWERS… --to html --out report.html" /></>;
  return <Wait for={useLoaded(() => source.groups(dataset.key), dataset.key)}>{(piece) => <Labels {...given} piece={piece} />}</Wait>;
}

function Labels({ piece, ...given }: Given & { piece: GroupsPiece }) {
  const { dataset } = given, { asked } = route.value;
  const label = piece.labels.find((one) => one.name === asked.label) ?? piece.labels[0];
  const known = MEASURES.filter(([, , measure]) => label.tables.some((own) => own.measure === measure && given.rows.some((system) => own.value.some((row) => row[system] !== null))));
  const [key, words, measure] = known.find(([key]) => key === asked.as) ?? (label.doubts.length ? known.at(-1) : known[0]) ?? MEASURES[0];
  const table = label.tables.find((own) => own.measure === measure)!;
  const doubts = label.doubts.filter(([system]) => given.rows.includes(system)).map(([system, said]) => ` ${titleOf(system)}: ${said}.`).join("");
  const cased = new Set(label.tracks.map((own) => own.system));
  const parts = label.values.map((own, place): Part => {
    const value = (system: number) => table.value[place][system];
    return { key: own.name, title: own.title, note: number(own.gold), says: `${number(own.gold)} mentions`, value, told: (system) => percent(value(system)), target: (system) => (cased.has(system) ? address("cases", { dataset: dataset.key, system: nameOf(system), label: label.name, is: own.name }) : null) };
  }).filter((part) => given.rows.some((system) => part.value(system) !== null));
  return <Parts {...given} what="columns" head={<>{words} of each system on <b>{dataset.name}</b>, by {label.title.toLowerCase()}.</>} parts={parts} usual={parts.slice(0, FEW).map((part) => part.key)} worse={false} says={`${label.says} Under each name: how many mentions are so, the most frequent first. ${words} in percent, ${piece.view}.${key === "r" ? "" : doubts}`} more={<>{piece.labels.length > 1 && <Choice says="by" name="label" value={label.name} options={piece.labels.map((own) => [own.name, own.title.toLowerCase()])} small={{ columns: "", sort: "" }} />}{known.length > 1 && <Choice says="as" name="as" value={key} options={known.map(([key, words]) => [key, words])} />}</>} />;
}

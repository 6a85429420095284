// The board by error categories or by types of entities: systems on one dataset, shaded column by column.
import type { ComponentChildren } from "preact";
import type { DatasetInfo } from "../shape";
import { address, ask, route } from "../route";
import { Bar_, Choice, Chooser, nameOf, number, percent, useData, useLoaded, Wait } from "../parts";
import { type Cell, type Column, ranked, Sheet, sorting } from "../sheet";
import { counted, type Data, NOT_COUNTED, RIGHT } from "../data";
import { info } from "../parts";
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
  says: string;
  value: (system: number) => number | null;
  told: (system: number) => string;
  target: (system: number) => string;
}

const FEW = 8;

function Parts({ what, head, parts, usual, rows, name, controls, last, more, says, worse }: Given & { what: string; head: ComponentChildren; parts: readonly Part[]; usual: readonly string[]; more?: ComponentChildren; says: string; worse: boolean }) {
  const { asked } = route.value;
  const given = (asked.columns ?? "").split("|").filter((key) => parts.some((part) => part.key === key));
  const chosen = given.length ? given : usual;
  const shown = parts.filter((part) => chosen.includes(part.key));
  const by = shown.find((part) => part.key === sorting().by);
  const ordered = by ? ranked(rows, by.value) : rows;
  const columns: Column[] = [{ title: "system" }, ...shown.map((part, at): Column => ({ title: part.title, kind: "number", sort: part.key, minor: at >= 6, shown: <span title={part.says}>{part.title}</span> }))];
  const body = ordered.map((system): Cell[] => [
    name(system),
    ...shown.map((part): Cell => {
      const every = rows.map(part.value).filter((value) => value !== null), value = part.value(system);
      const low = Math.min(...every), high = Math.max(...every);
      const heat = value === null || high === low ? undefined : (value - low) / (high - low);
      const text = part.told(system);
      return { plain: text, heat, best: value !== null && every.length > 1 && value === (worse ? low : high), shown: value === null ? text : <a href={part.target(system)}><span class="figure">{text}</span></a> };
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
      <p class="quiet says">{says} Darker is more, column by column; bold is best. Each number opens its cases.</p>
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

/** The share of mentions that each system gets, by the type of the gold entity. */
export function ByType(given: Given) {
  const { dataset } = given;
  if (!dataset.cases) return <><Bar_>{given.controls}</Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => <Types {...given} data={data} />}</Wait>;
}

function Types({ data, ...given }: Given & { data: Data }) {
  const { dataset } = given;
  const { gold, types } = data.piece;
  const all = counted(gold.types.flatMap((place) => types[place]));
  if (!all.length) return <><Bar_>{given.controls}</Bar_><p class="missing">The gold standard has no types.</p></>;
  const track = new Map(data.tracks.map((own, t) => [own.system, t]));
  const parts = all.map(([type, count]): Part => {
    const with_ = new Set(types.flatMap((own, place) => (own.includes(type) ? [place] : [])));
    const tallies = new Map<number, [number, number]>();
    for (const [system, t] of track) {
      let right = 0, every = 0;
      gold.types.forEach((place, g) => {
        const kind = data.kindOf(t, g);
        if (!with_.has(place) || kind === NOT_COUNTED) return;
        every++;
        if (kind === RIGHT) right++;
      });
      tallies.set(system, [right, every]);
    }
    const value = (system: number) => { const [right, every] = tallies.get(system) ?? [0, 0]; return every ? right / every : null; };
    return { key: type, title: type, says: `${count} mentions`, value, told: (system) => percent(value(system)), target: (system) => address("cases", { dataset: dataset.key, system: nameOf(system), type }) };
  }).filter((part) => given.rows.some((system) => part.value(system) !== null));
  return <Parts {...given} what="types" head={<>Which share of the mentions of each type systems get on <b>{dataset.name}</b>.</>} parts={parts} usual={parts.slice(0, FEW).map((part) => part.key)} worse={false} says="Recall in percent by the type of the gold entity, the most frequent types first." />;
}

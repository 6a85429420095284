// Who is better, and is that sure?
import type { MeasureTable } from "../shape";
import { address, but, route } from "../route";
import { Bar_, type Cell, Choice, chosenDataset, type Column, info, nameOf, percent, Search, Sheet, titleOf } from "../parts";
import { expression } from "../data";

const SHORT: Record<string, string> = { "micro.p": "P", "micro.r": "R", "micro.f1": "F1", "macro.p": "macro P", "macro.r": "macro R", "macro.f1": "macro F1", accuracy: "accuracy" };

export function measureTitle(name: string): string {
  const at = name.lastIndexOf(":");
  const short = name.slice(at + 1);
  return SHORT[short] ?? short;
}

const viewOf = (name: string): string => name.slice(0, name.lastIndexOf(":"));

type Range = readonly [number, number];

/** The whole tens of percent between which all intervals of some tables lie. */
function rangeOf(tables: readonly MeasureTable[], systems: readonly number[]): Range {
  const every = tables.flatMap((one) => [one.low, one.value, one.high]).flat().flatMap((row) => systems.map((system) => row[system])).filter((one) => one !== null);
  return every.length ? [Math.floor(10 * Math.min(...every)) / 10, Math.ceil(10 * Math.max(...every)) / 10] : [0, 1];
}

/** The interval as a thin whisker with the value on it. */
function Whisker({ value, low, high, range }: { value: number | null; low: number | null; high: number | null; range: Range }) {
  if (value === null) return null;
  const at = (one: number) => (100 * (one - range[0])) / (range[1] - range[0] || 1);
  return (
    <svg class="whisker" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {low !== null && high !== null && <line x1={at(low)} x2={at(high)} y1="4" y2="4" vector-effect="non-scaling-stroke" />}
      <line class="dot" x1={at(value)} x2={at(value)} y1="0" y2="8" vector-effect="non-scaling-stroke" />
    </svg>
  );
}

/** The systems that are left out of sight. */
const hidden = (): string[] => (route.value.asked.hide ? route.value.asked.hide.split(",") : []);

/** Whether nobody in sight is significantly better; unknown where that was not tested. */
function leads(table: MeasureTable, dataset: number, system: number): boolean {
  const better = table.better[dataset][system];
  return better !== null && !better.some((one) => !hidden().includes(nameOf(one)));
}

function scored(table: MeasureTable, dataset: number, system: number, range: Range): Cell {
  const value = table.value[dataset][system], low = table.low[dataset][system], high = table.high[dataset][system];
  const note = value === null ? info.value!.notes.find((one) => one.dataset === dataset && one.system === system) : undefined;
  const own = info.value!.datasets[dataset];
  const best = leads(table, dataset, system);
  const says = low !== null && high !== null ? `${percent(low)} to ${percent(high)}` : (note?.undefined[table.measure] ?? "");
  const figure = <span class="figure">{percent(value)}</span>;
  return {
    plain: percent(value),
    best,
    shown: (
      <span title={says}>
        {own.cases && value !== null ? <a href={address("cases", { dataset: own.key, system: nameOf(system) })}>{figure}</a> : figure}
        <Whisker value={value} low={low} high={high} range={range} />
      </span>
    ),
  };
}

/** In a sentence who leads, and whether that is sure. */
function Answer({ table, dataset }: { table: MeasureTable; dataset: number }) {
  const values = table.value[dataset];
  const placed = values.map((value, system) => ({ value, system, leads: leads(table, dataset, system) })).filter((one) => one.value !== null && !hidden().includes(nameOf(one.system))).sort((a, b) => b.value! - a.value!);
  if (!placed.length) return null;
  const [first, ...others] = placed;
  const tied = others.filter((one) => one.leads);
  const where = info.value!.datasets[dataset].name;
  const head = <><b>{titleOf(first.system)}</b> has the best {measureTitle(table.measure)} on {where}: {percent(first.value)}.</>;
  if (!others.length || table.better[dataset][first.system] === null) return <h1 class="answer">{head}</h1>;
  return (
    <h1 class="answer">
      {head}{" "}
      {tied.length ? <>That is not significantly better than {tied.map((one) => titleOf(one.system)).join(", ")}.</> : <>That is significantly better than all others.</>}
    </h1>
  );
}

export function Board() {
  const { asked } = route.value;
  const board = info.value!;
  const profile = board.profiles.find((one) => one.name === asked.profile) ?? board.profiles[0];
  const single = board.datasets.length === 1 || asked.show === "measures";
  const dataset = Math.max(0, board.datasets.indexOf(chosenDataset()!));
  const tables = board.tables.filter((one) => one.profile === profile.name);
  const measure = tables.find((one) => one.measure === asked.m) ?? tables.find((one) => one.measure === profile.headline) ?? tables[0];
  if (!measure) return <p>There is nothing to show yet.</p>;
  const keep = asked.find ? expression(asked.find) : () => true;
  const view = asked.view ?? viewOf(profile.headline);
  const views = [...new Set(tables.map((one) => viewOf(one.measure)))];
  const shown = single ? tables.filter((one) => asked.view === "all" || viewOf(one.measure) === view) : [];
  const columnsKept = asked.columns ? expression(asked.columns) : () => true;
  const places = board.datasets.map((_, place) => place).filter((place) => columnsKept(board.datasets[place].name));
  const rows = board.systems.map((_, system) => system).filter((system) => keep(`${nameOf(system)}\n${titleOf(system)}`) && !hidden().includes(nameOf(system)));
  const value = (system: number): number => {
    const table = single ? tables.find((one) => one.measure === asked.sort) : undefined;
    if (table) return table.value[dataset][system] ?? -1;
    const place = board.datasets.findIndex((one) => one.key === asked.sort);
    if (!single && place >= 0) return measure.value[place][system] ?? -1;
    return single ? (measure.value[dataset][system] ?? -1) : (measure.mean[system] ?? -1);
  };
  rows.sort((a, b) => value(b) - value(a));
  const columns: Column[] = single
    ? [{ title: "system" }, ...shown.map((one): Column => ({ title: asked.view === "all" ? one.measure : measureTitle(one.measure), kind: "number", sort: one.measure, minor: one.measure !== profile.headline && shown.length > 3 && !/:micro\.[pr]$/.test(one.measure), shown: <span title={one.measure}>{asked.view === "all" ? one.measure : measureTitle(one.measure)}</span> }))]
    : [{ title: "system" }, ...(board.averaged.length > 1 ? [{ title: "mean", kind: "number" as const }] : []), ...places.map((place): Column => ({ title: board.datasets[place].name, kind: "number", sort: board.datasets[place].key, minor: board.averaged.length > 1 }))];
  const range = rangeOf(single ? shown : [measure], rows);
  const body = rows.map((system): Cell[] => {
    const head: Cell = { plain: titleOf(system), shown: <><span dir="auto">{titleOf(system)}</span> <a class="hide" href={but({ hide: [...hidden(), nameOf(system)].join(",") })}>hide</a></> };
    if (single) return [head, ...shown.map((table) => scored(table, dataset, system, range))];
    const mean = measure.mean[system];
    const means = board.averaged.length > 1 ? [{ plain: percent(mean), best: mean !== null && mean === Math.max(...rows.map((one) => measure.mean[one] ?? -1)), shown: <span class="figure">{percent(mean)}</span> }] : [];
    return [head, ...means, ...places.map((place) => scored(measure, place, system, range))];
  });
  const tested = measure.better.some((row) => row.some((one) => one !== null));
  const bounded = measure.low.some((row) => row.some((low) => low !== null));
  return (
    <>
      {single ? <Answer table={measure} dataset={dataset} /> : <h1 class="answer"><b>{titleOf(rows[0] ?? 0)}</b> has the best mean {measureTitle(measure.measure)} over {board.averaged.length} datasets: {percent(measure.mean[rows[0] ?? 0])}.</h1>}
      <Bar_>
        {board.datasets.length > 1 && <Choice says="show" name="show" value={single ? "measures" : ""} options={[["", "one measure on all datasets"], ["measures", "all measures on one dataset"]]} />}
        {single && board.datasets.length > 1 && <Choice says="on" name="dataset" value={board.datasets[dataset].key} options={board.datasets.map((one) => [one.key, one.name])} />}
        {single ? <Choice says="measures of" name="view" value={asked.view ?? view} options={[...views.map((one) => [one, one] as const), ["all", "all views"]]} /> : <Choice says="measure" name="m" value={measure.measure} options={tables.map((one) => [one.measure, one.measure])} />}
        {board.profiles.length > 1 && <Choice says="under the conventions of" name="profile" value={profile.name} options={board.profiles.map((one) => [one.name, one.title])} small={{ m: "", view: "", sort: "" }} />}
        <Search says="systems" name="find" />
        {hidden().length > 0 && <a href={but({ hide: "" })}>show the {hidden().length} hidden</a>}
        {!single && board.datasets.length > 6 && <Search says="datasets" name="columns" />}
      </Bar_>
      <Sheet name="Board" columns={columns} rows={body} />
      <p class="quiet says">
        Scores in percent. {bounded && `Whiskers: 95 % intervals, on a scale from ${percent(range[0], 0)} to ${percent(range[1], 0)}. `}
        {tested && <>Bold: no other system is significantly better ({board.tests}). </>}
        Each number opens its cases. {board.datasets.length > 1 && !single && board.averaged.length > 1 && `Means are over the ${board.averaged.length} datasets that all systems answered.`}
      </p>
      <Notes dataset={single ? dataset : null} />
    </>
  );
}

function Notes({ dataset }: { dataset: number | null }) {
  const notes = info.value!.notes.filter((one) => dataset === null || one.dataset === dataset);
  const said = notes.filter((one) => one.notes.length || Object.keys(one.skipped).length);
  return (
    <>
      {said.length > 0 && (
        <details>
          <summary>What was left out, and hints ({said.length})</summary>
          <ul>
            {said.map((one, place) => (
              <li key={place}><b>{titleOf(one.system)}</b> on {info.value!.datasets[one.dataset].name}: {[...Object.entries(one.skipped).map(([what, count]) => `${what} ${count}`), ...one.notes].join("; ")}</li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary>Signatures: everything that decided the numbers</summary>
        {[...new Set(notes.map((one) => one.signature))].map((one) => <p class="signature" key={one}>{one}</p>)}
        <p><a href={but({})}>This view</a> is in the address, and can be sent.</p>
      </details>
    </>
  );
}

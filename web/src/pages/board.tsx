// Who is better, and is that sure?
import type { MeasureTable } from "../shape";
import { address, ask, but, route } from "../route";
import { Bar_, Choice, Chooser, chosenDataset, EVERYTHING, Hidden, hiddenSystems, hiding, info, nameOf, percent, Search, seenSystems, titleOf } from "../parts";
import { type Cell, type Column, ranked, Sheet, sorting } from "../sheet";
import { expression } from "../data";
import { ByCategory, ByLabel } from "./breakdown";

const SHORT: Record<string, string> = { "micro.p": "P", "micro.r": "R", "micro.f1": "F1", "macro.p": "macro P", "macro.r": "macro R", "macro.f1": "macro F1", "macro.f1-of-means": "F1 of means", accuracy: "accuracy" };

export function measureTitle(name: string): string {
  const short = name.slice(name.lastIndexOf(":") + 1);
  return SHORT[short] ?? short;
}

const viewOf = (name: string): string => name.slice(0, name.lastIndexOf(":"));

/** A measure in as few words as tell it from the others in sight. */
function titleAmong(name: string, measures: readonly string[]): string {
  return measures.every((one) => viewOf(one) === viewOf(name)) ? measureTitle(name) : `${viewOf(name)} ${measureTitle(name)}`;
}

type Range = readonly [number, number];

/** The whole tens of percent between which all intervals of some tables lie. */
function rangeOf(tables: readonly MeasureTable[], places: readonly number[], systems: readonly number[]): Range {
  let low = Infinity, high = -Infinity;
  for (const table of tables) for (const place of places) for (const system of systems)
    for (const one of [table.low[place][system], table.value[place][system], table.high[place][system]]) if (one !== null) {
      low = Math.min(low, one);
      high = Math.max(high, one);
    }
  return low <= high ? [Math.floor(10 * low) / 10, Math.ceil(10 * high) / 10] : [0, 1];
}

/** The interval as a thin whisker with the value on it: one element, since a board may have thousands. */
function Whisker({ interval: [low, value, high] }: { interval: readonly [number, number, number] }) {
  const wide = high - low, from = wide < 1 ? low / (1 - wide) : 0;
  const share = (one: number) => `${(100 * one).toFixed(1)}%`;
  return <span class="whisker" style={`background-size:2px 8px,${share(wide)} 1px;background-position:${share(value)} 0,${share(from)} 4px`} />;
}

/** Whether nobody in sight is significantly better; unknown where that was not tested. */
function leads(table: MeasureTable, place: number, system: number): boolean {
  const better = table.better[place][system], gone = hiddenSystems();
  return better !== null && better.every((one) => gone.has(one));
}

function best(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length ? Math.max(...known) : null;
}

function scored(table: MeasureTable, place: number, system: number, range: Range, most: number | null): Cell {
  const board = info.value!, own = board.datasets[place];
  const value = table.value[place][system], low = table.low[place][system], high = table.high[place][system];
  const note = value === null ? board.notes.find((one) => one.dataset === place && one.system === system) : undefined;
  const first = value !== null && value === most, tied = !first && value !== null && leads(table, place, system);
  const between = low !== null && high !== null ? `${percent(low)} to ${percent(high)}` : "";
  const says = value === null ? (note?.undefined[table.measure] ?? note?.refused[table.profile] ?? "no answers") : [between, tied && "nobody in sight is significantly better"].filter(Boolean).join("; ");
  const at = (one: number) => (one - range[0]) / (range[1] - range[0] || 1);
  const interval = value === null || low === null || high === null ? undefined : ([at(low), at(value), at(high)] as const);
  const target = table.profile === board.profile ? address("cases", { dataset: own.key, system: nameOf(system) }) : address("conventions", { dataset: own.key, system: nameOf(system), theirs: table.profile });
  const figure = <span class="figure">{tied && <span class="tie">≈ </span>}{percent(value)}</span>;
  return { plain: percent(value), best: first, tied, interval, shown: <span title={says}>{own.cases && value !== null ? <a href={target}>{figure}</a> : figure}{interval && <Whisker interval={interval} />}</span> };
}

/** In a sentence who leads, and whether that is sure. */
function Answer({ table, places, rows, means }: { table: MeasureTable; places: readonly number[]; rows: readonly number[]; means: readonly (number | null)[] }) {
  const board = info.value!, measure = measureTitle(table.measure);
  if (!rows.length) return <h1 class="answer">No system is called so.</h1>;
  if (places.length === 1) {
    const [place] = places;
    const placed = rows.filter((system) => table.value[place][system] !== null).sort((a, b) => table.value[place][b]! - table.value[place][a]!);
    if (!placed.length) return <h1 class="answer">No system has a number on {board.datasets[place].name} for {table.measure}.</h1>;
    const [first, ...others] = placed, tied = others.filter((system) => leads(table, place, system));
    const sure = table.better[place][first] !== null ? (tied.length ? `That is not significantly better than ${tied.map(titleOf).join(", ")}.` : "That is significantly better than all others.") : "";
    if (!others.length) return <h1 class="answer"><b>{titleOf(first)}</b> gets {percent(table.value[place][first])} {measure} on {board.datasets[place].name}.</h1>;
    return <h1 class="answer"><b>{titleOf(first)}</b> has the best {measure} on {board.datasets[place].name}: {percent(table.value[place][first])}. {sure}</h1>;
  }
  const most = best(means), first = rows.find((_, at) => means[at] !== null && means[at] === most);
  const leaders = places.map((place) => { const top = best(rows.map((system) => table.value[place][system])); return rows.find((system) => top !== null && table.value[place][system] === top); });
  if (first === undefined) return <h1 class="answer">{measure} on {places.length} datasets; no dataset is answered by all systems, so there is no mean.</h1>;
  const won = leaders.filter((system) => system === first).length;
  const elsewhere = places.length <= 4 ? places.flatMap((place, at) => (leaders[at] !== undefined && leaders[at] !== first ? [`${titleOf(leaders[at]!)} is ahead on ${board.datasets[place].name}`] : [])) : [];
  return <h1 class="answer"><b>{titleOf(first)}</b> has the best mean {measure} over {places.length} datasets: {percent(most)}. {won === places.length ? "It is ahead on each of them." : `It is ahead on ${won} of them${elsewhere.length ? `; ${elsewhere.join(", ")}` : ""}.`}</h1>;
}

const SHOWS: readonly (readonly [string, string])[] = [["", "all datasets"], ["measures", "one dataset"], ["errors", "error categories"], ["types", "types and categories"]];

export function Board() {
  const { asked } = route.value;
  const { datasets } = info.value!;
  const dataset = chosenDataset((one) => asked.show !== "types" || one.groups);
  if (!dataset) return <p>There is nothing to show yet.</p>;
  const keep = asked.find ? expression(asked.find) : () => true;
  const rows = seenSystems().filter((system) => keep(`${nameOf(system)}\n${titleOf(system)}`));
  const shows = datasets.length > 1 ? SHOWS : SHOWS.slice(1);
  const single = datasets.length === 1 || Boolean(asked.show);
  const controls = (
    <>
      <Choice says="show" name="show" value={asked.show || (datasets.length > 1 ? "" : "measures")} options={shows} small={{ sort: "", columns: "" }} />
      {single && datasets.length > 1 && <Choice says="on" name="dataset" value={dataset.key} options={datasets.map((one) => [one.key, one.name])} />}
    </>
  );
  const last = <><Search says="systems" name="find" /><Hidden /></>;
  if (asked.show === "errors") return <ByCategory dataset={dataset} rows={rows} name={systemCell} controls={controls} last={last} />;
  if (asked.show === "types") return <ByLabel dataset={dataset} rows={rows} name={systemCell} controls={controls} last={last} />;
  return <Scores rows={rows} single={single ? datasets.indexOf(dataset) : -1} controls={controls} last={last} />;
}

/** The name of a system, with the way to hide it. */
function systemCell(system: number): Cell {
  return { plain: titleOf(system), shown: <><span dir="auto">{titleOf(system)}</span> <a class="hide" href={but({ hide: hiding([...hiddenSystems(), system]) })} aria-label={`hide ${titleOf(system)}`}>hide</a></> };
}

const spaced = (given: string | undefined, known: readonly string[]): string[] => { const names = (given ?? "").split(" "); return known.filter((name) => names.includes(name)); };

function Scores({ rows, single, controls, last }: { rows: number[]; single: number; controls: preact.ComponentChildren; last: preact.ComponentChildren }) {
  const { asked } = route.value;
  const board = info.value!;
  const profile = board.profiles.find((one) => one.name === asked.profile) ?? board.profiles[0];
  const tables = board.tables.filter((one) => one.profile === profile.name);
  const names = tables.map((one) => one.measure);
  const usual = single >= 0 ? names.filter((name) => viewOf(name) === viewOf(profile.headline)) : [names.includes(profile.headline) ? profile.headline : names[0]];
  const given = spaced(asked.m, names), measures = given.length ? given : usual;
  const keys = board.datasets.map((one) => one.key), picked = spaced(asked.sets, keys);
  const places = single >= 0 ? [single] : (picked.length ? picked : keys).map((key) => keys.indexOf(key));
  const shown = tables.filter((one) => measures.includes(one.measure));
  const main = shown.find((one) => one.measure === profile.headline) ?? shown[0];
  if (!main) return <p>There is nothing to show yet.</p>;
  const averaged = places.length > 1 ? places.filter((place) => rows.every((system) => main.value[place][system] !== null)) : [];
  const mean = (table: MeasureTable, system: number): number | null => {
    const values = averaged.map((place) => table.value[place][system]);
    return values.length && values.every((value) => value !== null) ? values.reduce((sum, value) => sum! + value!, 0)! / values.length : null;
  };
  // Every column by what it is sorted by: a dataset or the mean, and a measure.
  const pairs = asked.group === "measure" ? shown.flatMap((table) => [-1, ...places].map((place) => ({ table, place }))) : [-1, ...places].flatMap((place) => shown.map((table) => ({ table, place })));
  const seen = pairs.filter(({ place }) => place >= 0 || averaged.length > 1);
  const keyOf = ({ table, place }: (typeof seen)[0]) => `${place < 0 ? "mean" : keys[place]} ${table.measure}`;
  const valueOf = ({ table, place }: (typeof seen)[0], system: number) => (place < 0 ? mean(table, system) : table.value[place][system]);
  const wanted = seen.find((one) => keyOf(one) === sorting().by) ?? seen.find((one) => one.table === main)!;
  const ordered = ranked(rows, (system) => valueOf(wanted, system));
  const range = rangeOf(shown, places, rows);
  const tops = seen.map((one) => best(rows.map((system) => valueOf(one, system))));
  const grouped = shown.length > 1 && places.length > 1;
  const columns: Column[] = [
    { title: "system" },
    ...seen.map(({ table, place }): Column => {
      const where = place < 0 ? "mean" : board.datasets[place].name, what = titleAmong(table.measure, measures);
      const [group, title] = asked.group === "measure" ? [what, where] : [where, what];
      const few = seen.length <= 6 || place < 0 || (single >= 0 && /:micro\.(p|r|f1)$/.test(table.measure) && viewOf(table.measure) === viewOf(main.measure));
      return { title: grouped ? title : single >= 0 || places.length === 1 ? what : where, group: grouped ? group : undefined, kind: "number", sort: keyOf({ table, place }), minor: !few, shown: <span title={`${table.measure}${place < 0 ? ", mean" : ` on ${where}`}`}>{grouped ? title : single >= 0 || places.length === 1 ? what : where}</span> };
    }),
  ];
  const body = ordered.map((system): Cell[] => [
    systemCell(system),
    ...seen.map(({ table, place }, at): Cell => {
      if (place >= 0) return scored(table, place, system, range, tops[at]);
      const value = mean(table, system);
      return { plain: percent(value), best: value !== null && value === tops[at], shown: <span class="figure">{percent(value)}</span> };
    }),
  ]);
  const tested = shown.some((table) => places.some((place) => table.better[place].some((one) => one !== null)));
  const bounded = shown.some((table) => places.some((place) => table.low[place].some((low) => low !== null)));
  return (
    <>
      <Answer table={main} places={places} rows={rows} means={rows.map((system) => mean(main, system))} />
      <Bar_>
        {controls}
        <Chooser says="measures" options={names.map((name) => [name, name])} chosen={measures} set={(chosen) => ask({ m: chosen.join(" ") })} />
        {single < 0 && board.datasets.length > 1 && <Chooser says="datasets" options={board.datasets.map((one) => [one.key, one.name])} chosen={places.map((place) => keys[place])} set={(chosen) => ask({ sets: chosen.length === keys.length ? "" : chosen.join(" ") })} />}
        {grouped && <Choice says="grouped" name="group" value={asked.group ?? ""} options={[["", "by dataset"], ["measure", "by measure"]]} />}
        {board.profiles.length > 1 && <Choice says="under the conventions of" name="profile" value={profile.name} options={board.profiles.map((one) => [one.name, one.title])} small={{ m: "", sort: "" }} />}
        {last}
      </Bar_>
      {body.length ? <Sheet name="Board" columns={columns} rows={body} lines={bounded} /> : <p><a href={but({ find: "", hide: EVERYTHING })}>Show all systems</a></p>}
      <p class="quiet says">
        Scores in percent{grouped || places.length > 1 ? "" : `, ${shown.map((one) => viewOf(one.measure)).filter((one, at, all) => all.indexOf(one) === at).join(", ")}`}. {bounded && `Whiskers: 95 % intervals, on a scale from ${percent(range[0], 0)} to ${percent(range[1], 0)}. `}
        Bold: the best. {tested && <>≈: not the best, and yet no system in sight is significantly better ({board.tests}). </>}
        Each number opens {profile.name === board.profile ? "its cases" : "what makes it differ"}. {averaged.length > 1 && `Means are over the ${averaged.length} datasets that all systems in sight answered.`}
      </p>
      <Notes dataset={single >= 0 ? single : null} />
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

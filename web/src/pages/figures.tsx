// The figures that papers print, from what is here.
import { useMemo } from "preact/hooks";
import type { CreditsPiece, DrawnChart, ProblemsPiece } from "../shape";
import { address, route } from "../route";
import { type Data, MISSED, NOT_COUNTED, RIGHT, SPURIOUS, WRONG_LINK } from "../data";
import { Bar_, Choice, chosenDataset, DatasetChoice, Entity, Hidden, info, Kind, many, Missing, More, nameOf, number, percent, seenSystems, seenTracks, titleOf, useData, useLoaded, useTexts, Wait, Within } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";
import { Chart } from "../chart";
import { spots } from "../spots";
import { NoCases } from "./cases";
import { Graph } from "../graph";
import * as source from "../source";

const SHOWN: readonly (readonly [string, string])[] = [
  ["", "systems over benchmarks"],
  ["heat", "a shaded table"],
  ["problems", "problems, and who solves which"],
  ["text", "one text, and who links what"],
  ["verdicts", "one answer, several verdicts"],
];

const Which = () => <Choice says="show" name="show" value={route.value.asked.show ?? ""} options={SHOWN} />;

export function Figures() {
  switch (route.value.asked.show) {
    case "heat": return <Shaded />;
    case "problems": return <Problems />;
    case "text": return <OneText />;
    case "verdicts": return <Verdicts />;
    default: return <Benchmarks />;
  }
}

/** The measure and the profile that figures of the board are of. */
function useTable() {
  const { asked } = route.value;
  const board = info.value!;
  const profile = board.profiles.find((one) => one.name === asked.profile) ?? board.profiles[0];
  const tables = board.tables.filter((one) => one.profile === profile.name);
  const table = tables.find((one) => one.measure === asked.m) ?? tables.find((one) => one.measure === profile.headline) ?? tables[0];
  const controls = (
    <>
      <Choice says="of" name="m" value={table.measure} options={tables.map((one) => [one.measure, one.measure])} />
      {board.profiles.length > 1 && <Choice says="under the conventions of" name="profile" value={profile.name} options={board.profiles.map((one) => [one.name, one.title])} small={{ m: "" }} />}
    </>
  );
  return { table, controls };
}

/** Every system as a line over all benchmarks. */
function Benchmarks() {
  const board = info.value!, { table, controls } = useTable();
  const chart: DrawnChart = {
    name: "benchmarks", title: `${table.measure} of every system on every benchmark`, says: "Benchmarks in the order of their mean, the easiest first.", x: "benchmark", y: table.measure, form: "line", log: false, diagonal: false, marked: [],
    ...lines(),
  };
  function lines(): Pick<DrawnChart, "ticks" | "lines"> {
    const systems = seenSystems();
    const mean = (place: number) => { const known = systems.map((system) => table.value[place][system]).filter((value) => value !== null); return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : -1; };
    const places = board.datasets.map((_, place) => place).filter((place) => mean(place) >= 0).sort((a, b) => mean(b) - mean(a));
    return {
      ticks: places.map((place) => board.datasets[place].name),
      lines: systems.map((system) => { const known = places.map((_, at) => at).filter((at) => table.value[places[at]][system] !== null); return { system, x: known, y: known.map((at) => table.value[places[at]][system]!) }; }),
    };
  }
  return (
    <>
      <h1 class="answer">How every system does on {chart.ticks.length === 1 ? "the one benchmark that is here" : `${chart.ticks.length} benchmarks`}.</h1>
      <Bar_><Which />{controls}<Hidden /></Bar_>
      <div class="charts one"><Chart chart={chart} /></div>
      <p class="quiet says">The numbers with their intervals are on the <a href={address("board", { m: table.measure, profile: route.value.asked.profile })}>board</a>.</p>
    </>
  );
}

/** Systems on datasets, darker where better. */
function Shaded() {
  const board = info.value!, { table, controls } = useTable();
  const systems = seenSystems(), every = systems.flatMap((system) => table.value.map((row) => row[system])).filter((value) => value !== null);
  const low = Math.min(...every), high = Math.max(...every);
  const columns: Column[] = [{ title: "system" }, ...board.datasets.map((one): Column => ({ title: one.name, kind: "number" }))];
  const rows = systems.map((system): Cell[] => [
    { plain: titleOf(system) },
    ...board.datasets.map((one, place): Cell => {
      const value = table.value[place][system];
      return { plain: percent(value), heat: value === null || high === low ? undefined : (value - low) / (high - low), shown: value !== null && one.cases ? <a class="plain" href={address("cases", { dataset: one.key, system: nameOf(system) })}>{percent(value)}</a> : percent(value) };
    }),
  ]);
  return (
    <>
      <h1 class="answer">{table.measure} of all systems on all datasets: the darker, the better.</h1>
      <Bar_><Which />{controls}<Hidden /></Bar_>
      <Sheet name="Shaded table" columns={columns} rows={rows} />
      <p class="quiet says">In percent. Error categories and types are shaded in the same way on the board: <a href={address("board", { show: "errors" })}>by error category</a>, <a href={address("board", { show: "types" })}>by type</a>.</p>
    </>
  );
}

function Problems() {
  const loaded = useLoaded(source.problems, "problems");
  return (
    <>
      <h1 class="answer">Which problems there are, what reduces to what, and which systems and datasets are for which.</h1>
      <Bar_><Which /></Bar_>
      <Wait for={loaded}>{(piece) => <ProblemGraph piece={piece} />}</Wait>
    </>
  );
}

function ProblemGraph({ piece }: { piece: ProblemsPiece }) {
  const board = info.value!;
  const rows = piece.problems.map((one): Cell[] => [
    { plain: one.title, shown: <><b>{one.title}</b> <span class="quiet">{one.says}</span></> },
    { plain: one.systems.map(titleOf).join(", ") },
    { plain: one.datasets.map((place) => board.datasets[place].name).join(", ") },
    { plain: piece.reductions.filter(([harder]) => piece.problems[harder] === one).map(([, easier]) => piece.problems[easier].title).join(", ") },
  ]);
  return (
    <>
      <Graph name="Reductions" nodes={piece.problems.map((one) => ({ title: one.title, lines: [one.systems.length ? `systems: ${one.systems.map(titleOf).join(", ")}` : "", one.datasets.length ? `datasets: ${one.datasets.map((place) => board.datasets[place].name).join(", ")}` : ""].filter(Boolean) }))} edges={piece.reductions} />
      <p class="quiet says">Who solves the problem at the beginning of an arrow solves the one at its end too: the answers are made simpler. What systems and datasets are for is read off their annotations.</p>
      <Sheet name="Problems" columns={[{ title: "problem" }, { title: "systems" }, { title: "datasets" }, { title: "can be made into" }]} rows={rows} />
    </>
  );
}

/** A text in brackets, and above each what systems make of it. */
function OneText() {
  const dataset = chosenDataset((one) => one.cases && one.texts)!;
  if (!dataset.cases || !dataset.texts) return <><Bar_><Which /></Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => <Superscripts key={dataset.key} data={data} dataset={dataset.key} />}</Wait>;
}

const SIGNS: Record<number, string> = { [RIGHT]: "", [WRONG_LINK]: "×", [SPURIOUS]: "?" };

/** The numbers of the systems that answer here, each once, with the sign of the best that became of it. */
function said(bars: readonly { track: number; kind: number }[]): string {
  const best = new Map<number, number>();
  for (const { track, kind } of bars) best.set(track, Math.min(kind, best.get(track) ?? kind));
  return [...best].sort((a, b) => a[0] - b[0]).map(([track, kind]) => `${track + 1}${SIGNS[kind] ?? "~"}`).join(" ");
}

function Superscripts({ data, dataset }: { data: Data; dataset: string }) {
  const known = data.doc(route.value.asked.doc ?? ""), doc = known < 0 ? 0 : known;
  const tracks = seenTracks(data), texts = useTexts(dataset, data, [doc]);
  const every = useMemo(() => spots(data, doc, tracks), [data, doc, tracks.join(",")]);
  const id = data.piece.documents[doc].id;
  return (
    <>
      <h1 dir="auto">{data.title(doc)}</h1>
      <Bar_><Which /><DatasetChoice has={(one) => one.cases && one.texts} /><Choice says="document" name="doc" value={id} options={data.piece.documents.map((own, at) => [own.id, data.title(at)])} /><Hidden /></Bar_>
      <ol class="numbered">{tracks.map((t) => <li key={t}>{titleOf(data.tracks[t].system)}</li>)}</ol>
      <p class="quiet">[Brackets] are around mentions of the gold standard and answers. The numbers of systems that get it stand above; × is a wrong link, ~ a wrong span, ? an answer where no mention is.</p>
      <Wait for={texts}>
        {(found) => (
          <div class="document" dir="auto">
            {(found.get(doc) ?? []).map((stretch) => {
              const made = [];
              let place = stretch.start;
              for (const spot of every) {
                if (spot.start < place || spot.end > stretch.end) continue;
                const bars = spot.bars.filter((bar) => bar.track >= 0 && bar.kind !== MISSED && bar.kind !== NOT_COUNTED);
                const golds = spot.bars.some((bar) => bar.track < 0);
                if (!bars.length && !golds) continue;
                made.push(stretch.slice(place, spot.start));
                made.push(<a key={spot.start} class="noted" href={address("text", { dataset, doc: id, at: `${spot.start}-${spot.end}` })}>[{stretch.slice(spot.start, spot.end)}]<sup>{said(bars) || "–"}</sup></a>);
                place = spot.end;
              }
              made.push(stretch.slice(place, stretch.end));
              return <p key={stretch.start}>{made}</p>;
            })}
          </div>
        )}
      </Wait>
    </>
  );
}

function Verdicts() {
  const dataset = chosenDataset((one) => one.credits)!;
  const loaded = useLoaded(() => (dataset.credits ? source.credits(dataset.key) : Promise.reject(new Error("Verdicts are there for gold and answers with mentions, scored with Karat's own conventions."))), dataset.key);
  const data = useData(dataset.key);
  if (!dataset.cases) return <><Bar_><Which /><DatasetChoice /></Bar_><NoCases /></>;
  return <Wait for={data}>{(own) => <Wait for={loaded}>{(piece) => <OneAnswer data={own} piece={piece} dataset={dataset.key} />}</Wait>}</Wait>;
}

/** Answers, and what each earns under several ways to judge it. */
function OneAnswer({ data, piece, dataset }: { data: Data; piece: CreditsPiece; dataset: string }) {
  const { asked } = route.value;
  const seen = seenTracks(data).map((t) => data.tracks[t].system);
  const tracks = piece.tracks.filter((one) => seen.includes(one.system) && (!asked.system || nameOf(one.system) === asked.system));
  const ways = piece.ways.map((way, at) => ({ ...way, at })).filter((way) => way.refused === null);
  const of = (own: (typeof tracks)[0], row: number) => ways.map((way) => own.credits[way.at][row]);
  const track = (system: number) => data.tracks.findIndex((one) => one.system === system);
  const sums = tracks.map((own): Cell[] => [
    { plain: titleOf(own.system), shown: <a href={address("figures", { show: "verdicts", dataset, system: nameOf(own.system) })}>{titleOf(own.system)}</a> },
    ...ways.map((way): Cell => { const known = own.credits[way.at].filter((value) => value !== null); return { plain: known.length ? percent(known.reduce((sum, value) => sum + value, 0) / known.length) : "–" }; }),
  ]);
  const split = tracks.flatMap((own) => own.credits[0].flatMap((_, row) => { const known = of(own, row).filter((value) => value !== null); return known.length > 1 && Math.max(...known) - Math.min(...known) > 1e-9 ? [{ own, t: track(own.system), row }] : []; }))
    .sort((a, b) => data.order({ track: a.t, row: a.row }, { track: b.t, row: b.row }));
  const shown = split.slice(0, many());
  const texts = useTexts(dataset, data, shown.map(({ t, row }) => data.tracks[t].document[row]));
  const rows = shown.map(({ own, t, row }): Cell[] => {
    const g = data.tracks[t].gold[row], doc = data.tracks[t].document[row], [start, end] = data.span({ track: t, row });
    const gold = g < 0 ? null : data.piece.gold.entity[g];
    return [
      { plain: data.surface({ track: t, row }), shown: <a class="plain" href={address("text", { dataset, doc: data.piece.documents[doc].id, at: `${start}-${end}` })}><Within stretches={texts.value?.get(doc)} start={start} end={end} surface={data.surface({ track: t, row })} /></a> },
      { plain: titleOf(own.system) },
      { plain: data.piece.kinds[data.tracks[t].kind[row]], shown: <Kind data={data} kind={data.tracks[t].kind[row]} /> },
      { plain: gold === null ? "" : data.name(gold), shown: gold === null ? <span class="quiet">no mention</span> : <Entity data={data} entity={gold} dataset={dataset} /> },
      { plain: data.name(data.tracks[t].entity[row]), shown: <Entity data={data} entity={data.tracks[t].entity[row]} dataset={dataset} /> },
      ...of(own, row).map((value): Cell => ({ plain: value === null ? "–" : percent(value, 0), heat: value ?? undefined })),
    ];
  });
  const heads = ways.map((way): Column => ({ title: way.title, kind: "number", shown: <span title={`${way.says} (${way.profile}, ${way.view})`}>{way.title}</span> }));
  return (
    <>
      <h1 class="answer"><b>{number(split.length)}</b> answers earn more in one way of judging than in another.</h1>
      <Bar_><Which /><DatasetChoice has={(one) => one.credits} /><Choice says="of" name="system" value={asked.system ?? ""} options={[["", "all systems"], ...piece.tracks.map((own) => [nameOf(own.system), titleOf(own.system)] as const)]} /><Hidden /></Bar_>
      <Sheet name="Mean credit" columns={[{ title: "mean credit of answers" }, ...heads]} rows={sums} />
      <ul class="quiet says">{piece.ways.map((way) => <li key={way.name}><b>{way.title}</b>: {way.refused === null ? way.says : `not here: ${way.refused}`}</li>)}</ul>
      {split.length > 0 ? <><h2>Answers on which the ways differ</h2><Sheet name="Verdicts" columns={[{ title: "in the text" }, { title: "system" }, { title: "outcome", minor: true }, { title: "gold" }, { title: "answered" }, ...heads]} rows={rows} /><More shown={shown.length} all={split.length} what="answers" /></> : <Missing says="No answer is judged in two ways." />}
    </>
  );
}

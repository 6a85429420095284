// What is lost and won by a switch from one system to another?
import { address, but, route } from "../route";
import { counted, type Data, NOT_COUNTED } from "../data";
import { Bar_, Choice, chosenDataset, DatasetChoice, Entity, Golden, hiding, info, Kind, many, Missing, More, nameOf, number, percent, seenTracks, titleOf, useData, useTexts, Wait, Within } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";
import { measureTitle } from "./board";
import { NoCases } from "./cases";

export function Flips() {
  const dataset = chosenDataset((one) => one.cases)!;
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => (data.tracks.length < 2 ? <Missing heading says="There is one system only. Give the answers of a second one:" command="karat report --gold GOLD ONE TWO --to html --out report.html" /> : <Pair data={data} dataset={dataset.key} />)}</Wait>;
}

/** Both systems in numbers: what becomes of their cases, and the scores that this makes. */
function Sides({ data, dataset, tracks }: { data: Data; dataset: string; tracks: readonly number[] }) {
  const board = info.value!, place = board.datasets.findIndex((own) => own.key === dataset);
  const tables = board.tables.filter((own) => own.profile === board.profile && ["micro.p", "micro.r", "micro.f1"].some((name) => own.measure === `${data.piece.view}:${name}`));
  const kinds = data.piece.kinds.map((kind, at) => ({ kind, at })).filter(({ at }) => at !== NOT_COUNTED);
  const columns: Column[] = [{ title: "system" }, ...tables.map((own): Column => ({ title: measureTitle(own.measure), kind: "number" })), ...kinds.map(({ kind }): Column => ({ title: kind, kind: "number" }))];
  const rows = tracks.map((t): Cell[] => {
    const own = data.tracks[t], counts = new Map(counted(own.kind));
    return [{ plain: titleOf(own.system) }, ...tables.map((table): Cell => ({ plain: percent(table.value[place][own.system]), shown: <a href={address("cases", { dataset, system: nameOf(own.system) })}><span class="figure">{percent(table.value[place][own.system])}</span></a> })), ...kinds.map(({ kind, at }): Cell => ({ plain: number(counts.get(at) ?? 0), shown: <a href={address("cases", { dataset, system: nameOf(own.system), kind })}>{number(counts.get(at) ?? 0)}</a> }))];
  });
  return <Sheet name="Both systems" columns={columns} rows={rows} copy={false} />;
}

const GROUPED = 20; // groups that are listed at first

const GROUPS: readonly (readonly [string, string])[] = [["error", "by error category"], ["outcome", "by how the other fails"], ["entity", "by entity"], ["surface", "by surface"], ["type", "by type"], ["doc", "by document"]];

function Pair({ data, dataset }: { data: Data; dataset: string }) {
  const { asked } = route.value;
  const track = (name: string | undefined, other: number) => { const found = data.tracks.findIndex((own) => nameOf(own.system) === name); return found < 0 ? other : found; };
  const seen = seenTracks(data), usual = seen.length > 1 ? seen : data.tracks.map((_, t) => t);
  const first = track(asked.one, usual[0]), second = track(asked.two, usual.find((t) => t !== first)!);
  const [one, two] = [first, second].map((t) => titleOf(data.tracks[t].system));
  const { only, both, neither } = data.flips(first, second);
  const by = GROUPS.some(([key]) => key === asked.by) ? asked.by : "error";
  const { gold } = data.piece;
  const values = (g: number, loser: number): string[] => {
    const row = data.byGold[loser][g];
    switch (by) {
      case "error": return data.errors({ track: loser, row }).length ? data.errors({ track: loser, row }) : ["none"];
      case "outcome": return [data.piece.kinds[data.tracks[loser].kind[row]]];
      case "entity": return [data.id(gold.entity[g])];
      case "surface": return [data.goldSurface(g)];
      case "type": return data.piece.types[gold.types[g]].length ? data.piece.types[gold.types[g]] : ["none"];
      default: return [data.piece.documents[gold.document[g]].id];
    }
  };
  const tallies = [counted(only[0].flatMap((g) => values(g, second))), counted(only[1].flatMap((g) => values(g, first)))].map((own) => new Map(own));
  const every = [...new Set([...tallies[0].keys(), ...tallies[1].keys()])].map((value) => ({ value, won: tallies[0].get(value) ?? 0, lost: tallies[1].get(value) ?? 0 })).sort((a, b) => b.won + b.lost - a.won - a.lost);
  const most = Math.max(1, ...every.flatMap((own) => [own.won, own.lost]));
  const title = (value: string) => (by === "entity" ? data.called(value) : by === "doc" ? data.title(data.doc(value)) : by === "error" ? (value === "none" ? "no category" : data.category(value).title) : value);
  const here = (value: string, side: string) => address("flips", { dataset, one: nameOf(data.tracks[first].system), two: nameOf(data.tracks[second].system), by, value, side });
  const others = info.value!.systems.map((_, system) => system).filter((system) => ![first, second].some((t) => data.tracks[t].system === system));
  const together = (who: string, count: number) => <a href={address("cases", { dataset, system: nameOf(data.tracks[first].system), who, hide: hiding(others) })}>{number(count)}</a>;
  const bar = (count: number, side: string, value: string) => <a class={`filled ${side}`} href={here(value, side)}><span class="room"><span class={count ? "fill" : "fill none"} style={{ width: `${(100 * count) / most}%` }} /></span><span class="figure">{number(count)}</span></a>;
  const groupColumns: Column[] = [{ title: GROUPS.find(([key]) => key === by)![1] }, { title: `only ${one}`, kind: "number" }, { title: `only ${two}`, kind: "number" }, { title: "difference", kind: "number" }];
  const listed = [...only[0].map((g) => ({ g, side: "one" })), ...only[1].map((g) => ({ g, side: "two" }))]
    .filter((own) => (!asked.side || own.side === asked.side) && (!asked.value || values(own.g, own.side === "one" ? second : first).includes(asked.value)))
    .sort((a, b) => a.g - b.g);
  const shown = listed.slice(0, many());
  const texts = useTexts(dataset, data, shown.map((own) => gold.document[own.g]));
  const said = (t: number, g: number) => { const row = data.byGold[t][g], own = data.tracks[t]; return { plain: own.start[row] < 0 ? data.piece.kinds[own.kind[row]] : data.name(own.entity[row]), shown: <><Kind data={data} kind={own.kind[row]} /> {own.start[row] >= 0 && own.kind[row] !== 0 && <Entity data={data} entity={own.entity[row]} dataset={dataset} />}</> }; };
  const columns: Column[] = [{ title: "mention" }, { title: "gold" }, { title: one }, { title: two }, { title: "document", minor: true }];
  const rows = shown.map(({ g }): Cell[] => {
    const doc = gold.document[g];
    return [
      { plain: data.goldSurface(g), shown: <a class="plain" href={address("text", { dataset, doc: data.piece.documents[doc].id, at: `${gold.start[g]}-${gold.end[g]}`, tracks: [first, second].map((t) => nameOf(data.tracks[t].system)).join(",") })}><Within stretches={texts.value?.get(doc)} start={gold.start[g]} end={gold.end[g]} surface={data.goldSurface(g)} /></a> },
      { plain: data.name(gold.entity[g]), shown: <Golden data={data} mention={g} dataset={dataset} /> },
      said(first, g),
      said(second, g),
      { plain: data.piece.documents[doc].id, shown: <span class="quiet" dir="auto">{data.title(doc)}</span> },
    ];
  });
  const options = data.tracks.map((own) => [nameOf(own.system), titleOf(own.system)] as const);
  const all = only[0].length + only[1].length + both + neither;
  return (
    <>
      <h1 class="answer"><b>{one}</b> gets <a href={here("", "one")}>{number(only[0].length)} mentions</a> that {two} does not; <b>{two}</b> gets <a href={here("", "two")}>{number(only[1].length)}</a> that {one} does not. <span class="quiet">Of {number(all)}, both get {together("all", both)} ({percent(both / Math.max(all, 1))} %), and neither {together("none", neither)}.</span></h1>
      <Bar_>
        <DatasetChoice has={(own) => own.cases} />
        <Choice says="from" name="one" value={nameOf(data.tracks[first].system)} options={options} small={{ value: "", side: "" }} />
        <Choice says="to" name="two" value={nameOf(data.tracks[second].system)} options={options} small={{ value: "", side: "" }} />
        <Choice says="grouped" name="by" value={by} options={GROUPS} small={{ value: "", side: "" }} />
      </Bar_>
      <Sides data={data} dataset={dataset} tracks={[first, second]} />
      <h2>Mentions that only one of them gets, {GROUPS.find(([key]) => key === by)![1]}</h2>
      <Sheet name="Groups" columns={groupColumns} rows={every.slice(0, asked.groups === "all" ? undefined : GROUPED).map((own): Cell[] => [{ plain: title(own.value), shown: <a href={here(own.value, "")} dir="auto">{title(own.value)}</a> }, { plain: String(own.won), shown: bar(own.won, "one", own.value) }, { plain: String(own.lost), shown: bar(own.lost, "two", own.value) }, { plain: own.won === own.lost ? "0" : `${own.won < own.lost ? "−" : "+"}${Math.abs(own.won - own.lost)}` }])} />
      {every.length > GROUPED && <p><a href={but({ groups: asked.groups === "all" ? "" : "all" })}>{asked.groups === "all" ? "Show fewer" : `Show all ${number(every.length)}`}</a></p>}
      <h2>{number(listed.length)} mentions{asked.value && <> of {title(asked.value)} <a class="aside" href={here("", "")}>all of them</a></>}</h2>
      <Sheet name="Flips" columns={columns} rows={rows} />
      <More shown={shown.length} all={listed.length} what="mentions" />
    </>
  );
}

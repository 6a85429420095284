// Entities and surfaces: how often, how well, by whom, and what they are taken for.
import type { ComponentChildren } from "preact";
import type { EntitiesPiece } from "../shape";
import { address, route } from "../route";
import { counted, type Data, expression, NO_LINK, NOT_COUNTED, RIGHT, WRONG_LINK } from "../data";
import { Bar_, Choice, chosenDataset, DatasetChoice, Entity, Hidden, hiddenSystems, info, many, Missing, More, nameOf, number, outside, percent, Search, seenSystems, seenTracks, titleOf, useData, useLoaded, useTexts, Wait, Within } from "../parts";
import { type Cell, type Column, ranked, Sheet, sorting } from "../sheet";
import { NoCases } from "./cases";
import * as source from "../source";

const EVERYWHERE = "all";
const SHOWN: readonly (readonly [string, string])[] = [["", "entities of the gold standard"], ["surfaces", "surfaces: what mentions are called"], ["confusions", "confusions: gold → answered"]];

function WithData({ children }: { children: (data: Data, dataset: string) => ComponentChildren }) {
  const dataset = chosenDataset((one) => one.cases)!;
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => children(data, dataset.key)}</Wait>;
}

export function Entities() {
  if (route.value.asked.dataset === EVERYWHERE) return <Everywhere />;
  return <WithData>{(data, dataset) => <Listed table={tableOf(data, dataset)} />}</WithData>;
}

export const OneEntity = () => <WithData>{(data, dataset) => <TheEntity data={data} dataset={dataset} />}</WithData>;
export const OneMention = () => <WithData>{(data, dataset) => <TheSurface data={data} dataset={dataset} />}</WithData>;

/** A row of any of the lists: its words, its head, how often, and the share that each system gets or who did it. */
interface Row {
  words: string;
  head: Cell[];
  count: number;
  target: string | null;
  shares: readonly (number | null)[];
  by: string;
}

interface Table {
  heads: Column[];
  rows: Row[];
  systems: readonly number[];
  more: number;
}

function Controls() {
  const { datasets } = info.value!, with_ = datasets.filter((one) => one.cases);
  return (
    <Bar_>
      {with_.length > 1 ? <Choice says="on" name="dataset" value={route.value.asked.dataset === EVERYWHERE ? EVERYWHERE : chosenDataset((one) => one.cases)!.key} options={[...with_.map((one) => [one.key, one.name] as const), [EVERYWHERE, "all datasets"]]} /> : <DatasetChoice has={(one) => one.cases} />}
      <Choice says="show" name="show" value={route.value.asked.show ?? ""} options={SHOWN} small={{ sort: "" }} />
      <Search says="with" name="find" />
      <Hidden />
    </Bar_>
  );
}

const WHAT: Record<string, string> = { "": "entities", surfaces: "surfaces", confusions: "kinds of wrong links" };

function Listed({ table }: { table: Table }) {
  const { asked } = route.value;
  const show = asked.show && asked.show in WHAT ? asked.show : "", wrong = show === "confusions";
  const keep = asked.find ? expression(asked.find) : () => true;
  const { by } = sorting();
  const at = table.systems.findIndex((system) => nameOf(system) === by);
  const found = table.rows.filter((row) => keep(row.words)).sort((a, b) => b.count - a.count);
  const every = at >= 0 ? ranked(found, (row) => row.shares[at]) : by === "count" ? ranked(found, (row) => row.count) : found;
  const columns: Column[] = [...table.heads, { title: wrong ? "times" : "mentions", kind: "number", sort: "count" }, ...(wrong ? [{ title: "by" }] : table.systems.map((system): Column => ({ title: titleOf(system), kind: "number", sort: nameOf(system), minor: table.systems.length > 2 })))];
  const rows = every.slice(0, many()).map((row): Cell[] => [
    ...row.head,
    { plain: number(row.count), shown: row.target ? <a href={row.target}>{number(row.count)}</a> : number(row.count) },
    ...(wrong ? [{ plain: row.by }] : row.shares.map((value, at): Cell => ({ plain: percent(value, 0), heat: value ?? undefined, shown: value !== null && row.target ? <a class="plain" href={`${row.target}&system=${encodeURIComponent(nameOf(table.systems[at]))}`}>{percent(value, 0)}</a> : undefined }))),
  ]);
  return (
    <>
      <h1 class="answer"><b>{number(every.length)}</b> {WHAT[show]}, the most frequent first. {!wrong && "For each system the share of the mentions that it gets, in percent."}</h1>
      <Controls />
      {rows.length ? <Sheet name={WHAT[show]} columns={columns} rows={rows} /> : <p>Nothing is like this.</p>}
      <More shown={rows.length} all={every.length} what={WHAT[show]} />
      {table.more > 0 && <p class="quiet">{number(table.more)} rarer ones are not listed here; a single dataset has all of its own.</p>}
    </>
  );
}

/** Mentions that count for somebody, by what they have in common. */
function grouped<K>(data: Data, key: (g: number) => K): Map<K, number[]> {
  const tracks = data.tracks.map((_, t) => t), found = new Map<K, number[]>();
  for (let g = 0; g < data.piece.gold.start.length; g++) {
    if (tracks.every((t) => data.kindOf(t, g) === NOT_COUNTED)) continue;
    const own = found.get(key(g));
    own ? own.push(g) : found.set(key(g), [g]);
  }
  return found;
}

function share(data: Data, t: number, mentions: readonly number[]): number | null {
  const own = mentions.map((g) => data.kindOf(t, g)).filter((kind) => kind !== NOT_COUNTED);
  return own.length ? own.filter((kind) => kind === RIGHT).length / own.length : null;
}

function tableOf(data: Data, dataset: string): Table {
  const tracks = seenTracks(data), systems = tracks.map((t) => data.tracks[t].system);
  const shares = (mentions: readonly number[]) => tracks.map((t) => share(data, t, mentions));
  if (route.value.asked.show === "confusions") {
    const rows = confusions(data, tracks).map((own): Row => ({
      words: `${data.name(own.gold)}\n${data.name(own.answer)}`,
      head: [own.gold, own.answer].map((entity) => ({ plain: data.name(entity), shown: <Entity data={data} entity={entity} dataset={dataset} /> })),
      count: own.count,
      target: address("cases", { dataset, entity: data.id(own.gold), kind: "wrong link", find: own.answer >= 0 ? literal(data.id(own.answer)) : "" }),
      shares: [],
      by: own.tracks.map((t) => titleOf(data.tracks[t].system)).join(", "),
    }));
    return { heads: [{ title: "gold" }, { title: "answered" }], rows, systems, more: 0 };
  }
  if (route.value.asked.show === "surfaces") {
    const rows = [...grouped(data, (g) => data.goldSurface(g))].map(([surface, mentions]): Row => {
      const entities = counted(mentions.map((g) => data.piece.gold.entity[g]));
      return { words: surface, head: [{ plain: surface, shown: <a href={address("mention", { dataset, surface })} dir="auto">{surface}</a> }, { plain: entities.slice(0, 3).map(([entity]) => data.name(entity)).join(", ") + (entities.length > 3 ? ` and ${entities.length - 3} more` : "") }], count: mentions.length, target: address("cases", { dataset, surface }), shares: shares(mentions), by: "" };
    });
    return { heads: [{ title: "surface" }, { title: "entities", minor: true }], rows, systems, more: 0 };
  }
  const rows = [...grouped(data, (g) => data.piece.gold.entity[g])].map(([entity, mentions]): Row => ({
    words: `${data.name(entity)}\n${data.id(entity)}`,
    head: [{ plain: data.name(entity), shown: <Entity data={data} entity={entity} dataset={dataset} /> }, { plain: counted(mentions.map((g) => data.goldSurface(g))).slice(0, 4).map(([surface]) => surface).join(", ") }],
    count: mentions.length,
    target: address("cases", { dataset, entity: data.id(entity) }),
    shares: shares(mentions),
    by: "",
  }));
  return { heads: [{ title: "entity" }, { title: "surfaces", minor: true }], rows, systems, more: 0 };
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The same over all datasets together. */
function Everywhere() {
  const loaded = useLoaded(source.entities, "entities");
  if (loaded.problem) return <><Controls /><Missing heading says={loaded.problem.message} command="pip install 'karat[duckdb]'" /></>;
  return <Wait for={loaded}>{(piece) => <Listed table={overall(piece)} />}</Wait>;
}

function overall(piece: EntitiesPiece): Table {
  const { show } = route.value.asked, { datasets } = info.value!, systems = seenSystems();
  const name = (entity: number) => (entity < 0 ? (entity === NO_LINK ? "no link" : "NIL") : (piece.names[entity] ?? piece.entities[entity]));
  const headed = (entity: number, dataset: number): Cell => ({ plain: name(entity), shown: entity < 0 ? <span class="quiet">{name(entity)}</span> : <a href={address("entity", { dataset: datasets[dataset].key, entity: piece.entities[entity] })} title={piece.entities[entity]} dir="auto">{name(entity)}</a> });
  const merged = <T extends { dataset: number }>(rows: readonly T[], key: (row: T) => string): T[][] => { const found = new Map<string, T[]>(); for (const row of rows) { const own = found.get(key(row)); own ? own.push(row) : found.set(key(row), [row]); } return [...found.values()]; };
  const shares = (rows: readonly { mentions: number; found: (number | null)[] }[]) => systems.map((system) => { const known = rows.filter((row) => row.found[system] !== null), all = known.reduce((sum, row) => sum + row.mentions, 0); return all ? known.reduce((sum, row) => sum + row.found[system]!, 0) / all : null; });
  // The datasets that something is on, each of which opens its cases.
  const where = (rows: readonly { dataset: number }[], asked: Record<string, string>): Cell => {
    const places = [...new Set(rows.map((row) => row.dataset))];
    return { plain: places.map((place) => datasets[place].name).join(", "), shown: <span class="whole">{places.map((place, at) => <>{at > 0 && ", "}<a key={place} href={address("cases", { ...asked, dataset: datasets[place].key })}>{datasets[place].name}</a></>)}</span> };
  };
  const idOf = (entity: number) => (entity < 0 ? name(entity) : piece.entities[entity]);
  const total = (rows: readonly { mentions: number }[]) => rows.reduce((sum, row) => sum + row.mentions, 0);
  if (show === "confusions") {
    const gone = hiddenSystems();
    const rows = merged(piece.confusions.filter((row) => !gone.has(row.system)), (row) => `${row.gold} ${row.answered}`).map((own): Row => ({ words: `${name(own[0].gold)}\n${name(own[0].answered)}`, head: [headed(own[0].gold, own[0].dataset), headed(own[0].answered, own[0].dataset), where(own, { entity: idOf(own[0].gold), kind: "wrong link" })], count: own.reduce((sum, row) => sum + row.times, 0), target: null, shares: [], by: [...new Set(own.map((row) => titleOf(row.system)))].join(", ") }));
    return { heads: [{ title: "gold" }, { title: "answered" }, { title: "on" }], rows, systems, more: piece.more[2] };
  }
  if (show === "surfaces") {
    const rows = merged(piece.surfaces, (row) => row.surface).map((own): Row => ({ words: own[0].surface, head: [{ plain: own[0].surface, shown: <a href={address("mention", { dataset: datasets[own[0].dataset].key, surface: own[0].surface })} dir="auto">{own[0].surface}</a> }, where(own, { surface: own[0].surface })], count: total(own), target: null, shares: shares(own), by: "" }));
    return { heads: [{ title: "surface" }, { title: "on" }], rows, systems, more: piece.more[1] };
  }
  const rows = merged(piece.rows.filter((row) => row.mentions), (row) => String(row.entity)).map((own): Row => ({ words: `${name(own[0].entity)}\n${own[0].entity < 0 ? "" : piece.entities[own[0].entity]}`, head: [headed(own[0].entity, own[0].dataset), where(own, { entity: idOf(own[0].entity) })], count: total(own), target: null, shares: shares(own), by: "" }));
  return { heads: [{ title: "entity" }, { title: "on" }], rows, systems, more: piece.more[0] };
}

interface Confusion {
  gold: number;
  answer: number;
  tracks: number[];
  count: number;
}

function confusions(data: Data, tracks: readonly number[]): Confusion[] {
  const found = new Map<string, Confusion>();
  for (const t of tracks) {
    const track = data.tracks[t];
    for (let row = 0; row < track.gold.length; row++) {
      if (track.kind[row] !== WRONG_LINK) continue;
      const gold = data.piece.gold.entity[track.gold[row]], answer = track.entity[row];
      const own = found.get(`${gold} ${answer}`) ?? { gold, answer, tracks: [], count: 0 };
      own.count++;
      if (!own.tracks.includes(t)) own.tracks.push(t);
      found.set(`${gold} ${answer}`, own);
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

/** For each system how often which outcome, of the cases that a test picks. */
function Outcomes({ data, tracks, asked, picks }: { data: Data; tracks: readonly number[]; asked: Record<string, string>; picks: (track: number, row: number) => boolean }) {
  const columns: Column[] = [{ title: "system" }, ...data.piece.kinds.map((kind): Column => ({ title: kind, kind: "number" }))];
  const rows = tracks.map((t): Cell[] => {
    const track = data.tracks[t], counts = data.piece.kinds.map(() => 0);
    for (let row = 0; row < track.gold.length; row++) if (picks(t, row)) counts[track.kind[row]]++;
    return [{ plain: titleOf(track.system) }, ...counts.map((count, place): Cell => ({ plain: number(count), shown: count ? <a href={address("cases", { ...asked, system: nameOf(track.system), kind: data.piece.kinds[place] })}>{number(count)}</a> : <span class="quiet">0</span> }))];
  });
  return <Sheet name="Outcomes" columns={columns} rows={rows} />;
}

/** Where mentions stand, each opening its text, with the share of systems that get it. */
function Places({ data, dataset, mentions, tracks }: { data: Data; dataset: string; mentions: readonly number[]; tracks: readonly number[] }) {
  const { gold } = data.piece, shown = mentions.slice(0, many());
  const texts = useTexts(dataset, data, shown.map((g) => gold.document[g]));
  const rows = shown.map((g): Cell[] => {
    const doc = gold.document[g], counts = tracks.filter((t) => data.kindOf(t, g) !== NOT_COUNTED), gets = counts.filter((t) => data.kindOf(t, g) === RIGHT);
    return [
      { plain: data.goldSurface(g), shown: <a class="plain" href={address("text", { dataset, doc: data.piece.documents[doc].id, at: `${gold.start[g]}-${gold.end[g]}` })}><Within stretches={texts.value?.get(doc)} start={gold.start[g]} end={gold.end[g]} surface={data.goldSurface(g)} /></a> },
      { plain: data.name(gold.entity[g]), shown: <Entity data={data} entity={gold.entity[g]} dataset={dataset} /> },
      { plain: counts.length ? `${gets.length} of ${counts.length}` : "not counted", shown: counts.length ? <a class="plain" title={gets.map((t) => titleOf(data.tracks[t].system)).join(", ") || "nobody"} href={address("cases", { dataset, doc: data.piece.documents[doc].id, surface: data.goldSurface(g) })}>{gets.length} of {counts.length}</a> : <span class="quiet">not counted</span> },
      { plain: data.title(doc), shown: <span class="quiet" dir="auto">{data.title(doc)}</span> },
    ];
  });
  if (!rows.length) return null;
  return <section><h2>Mentions</h2><Sheet name="Mentions" columns={[{ title: "in the text" }, { title: "gold" }, { title: "systems that get it", kind: "number" }, { title: "document", minor: true }]} rows={rows} /><More shown={shown.length} all={mentions.length} what="mentions" /></section>;
}

function Pairs({ data, dataset, pairs, side }: { data: Data; dataset: string; pairs: readonly Confusion[]; side: "gold" | "answer" }) {
  return <ul>{pairs.slice(0, 40).map((one) => <li key={`${one.gold} ${one.answer}`}><Entity data={data} entity={one[side]} dataset={dataset} /> <span class="quiet">{one.count === 1 ? "once" : `${one.count} times`}, by {one.tracks.map((t) => titleOf(data.tracks[t].system)).join(", ")}</span></li>)}</ul>;
}

/** The other datasets that have mentions of an entity. */
function Elsewhere({ id, dataset }: { id: string; dataset: string }) {
  const { datasets } = info.value!, several = datasets.filter((one) => one.cases).length > 1;
  const loaded = useLoaded(() => (several ? source.entities() : Promise.reject(new Error("one dataset"))), String(several));
  const place = loaded.value?.entities.indexOf(id) ?? -1;
  const rows = (loaded.value?.rows ?? []).filter((row) => row.entity === place && row.mentions && datasets[row.dataset].key !== dataset);
  if (place < 0 || !rows.length) return null;
  return <span class="quiet">also on {rows.map((row, at) => <>{at > 0 && ", "}<a key={row.dataset} href={address("entity", { dataset: datasets[row.dataset].key, entity: id })}>{datasets[row.dataset].name}</a> ({number(row.mentions)})</>)}</span>;
}

function TheEntity({ data, dataset }: { data: Data; dataset: string }) {
  const id = route.value.asked.entity ?? "", entity = data.place(id), tracks = seenTracks(data), { gold } = data.piece;
  const mentions = gold.entity.flatMap((own, g) => (own === entity ? [g] : []));
  const wrong = confusions(data, tracks), instead = wrong.filter((own) => own.gold === entity), taken = wrong.filter((own) => own.answer === entity);
  const page = outside(id), types = [...new Set(mentions.flatMap((g) => data.piece.types[gold.types[g]]))];
  return (
    <>
      <h1 dir="auto">{data.called(id)}</h1>
      <p class="answer">
        {page ? <a href={page} target="_blank" rel="noopener noreferrer">{id}</a> : id}{data.description(entity) && <>, <span dir="auto">{data.description(entity)}</span></>}: <b>{number(mentions.length)}</b> mention{mentions.length === 1 ? "" : "s"} in the gold standard{mentions.length > 0 && <>, as {counted(mentions.map((g) => data.goldSurface(g))).slice(0, 8).map(([surface, count], at) => <>{at > 0 && ", "}<a key={surface} href={address("mention", { dataset, surface })} dir="auto">“{surface}”</a>{count > 1 && <span class="quiet"> {count}</span>}</>)}</>}.
        {types.length > 0 && <span class="quiet"> Types: {types.join(", ")}.</span>}
      </p>
      <Bar_><DatasetChoice has={(one) => one.cases} /><a href={address("entities", { dataset })}>all entities</a><Elsewhere id={id} dataset={dataset} /><Hidden /></Bar_>
      <Outcomes data={data} tracks={tracks} asked={{ dataset, entity: id }} picks={(t, row) => { const track = data.tracks[t]; return track.entity[row] === entity || (track.gold[row] >= 0 && gold.entity[track.gold[row]] === entity); }} />
      {instead.length > 0 && <section><h2>What was answered instead</h2><Pairs data={data} dataset={dataset} pairs={instead} side="answer" /></section>}
      {taken.length > 0 && <section><h2>What was taken for it</h2><Pairs data={data} dataset={dataset} pairs={taken} side="gold" /></section>}
      <Places data={data} dataset={dataset} mentions={mentions} tracks={tracks} />
    </>
  );
}

function TheSurface({ data, dataset }: { data: Data; dataset: string }) {
  const surface = route.value.asked.surface ?? "", tracks = seenTracks(data), { gold } = data.piece;
  const mentions = gold.start.flatMap((_, g) => (data.goldSurface(g) === surface ? [g] : []));
  const entities = counted(mentions.map((g) => gold.entity[g]));
  const answers = new Map<number, Set<number>>();
  for (const t of tracks) for (let row = 0; row < data.tracks[t].gold.length; row++) {
    const track = data.tracks[t];
    if (track.start[row] >= 0 && data.surface({ track: t, row }) === surface) answers.set(track.entity[row], (answers.get(track.entity[row]) ?? new Set()).add(t));
  }
  const rows = [...answers].sort((a, b) => b[1].size - a[1].size).map(([entity, by]): Cell[] => [
    { plain: data.name(entity), shown: <Entity data={data} entity={entity} dataset={dataset} /> },
    { plain: entities.some(([own]) => own === entity) ? "yes" : "no" },
    { plain: number(by.size), shown: <a href={address("cases", { dataset, surface, entity: data.id(entity) })}>{number(by.size)}</a> },
    { plain: [...by].map((t) => titleOf(data.tracks[t].system)).join(", ") },
  ]);
  return (
    <>
      <h1 dir="auto">“{surface}”</h1>
      <p class="answer"><b>{number(mentions.length)}</b> mention{mentions.length === 1 ? "" : "s"} in the gold standard{entities.length > 0 && <>, of {entities.slice(0, 8).map(([entity, count], at) => <>{at > 0 && ", "}<Entity key={entity} data={data} entity={entity} dataset={dataset} />{count > 1 && <span class="quiet"> {count}</span>}</>)}</>}.</p>
      <Bar_><DatasetChoice has={(one) => one.cases} /><a href={address("entities", { dataset, show: "surfaces" })}>all surfaces</a><Hidden /></Bar_>
      <Outcomes data={data} tracks={tracks} asked={{ dataset, surface }} picks={(t, row) => data.surface({ track: t, row }) === surface || (data.tracks[t].gold[row] >= 0 && data.goldSurface(data.tracks[t].gold[row]) === surface)} />
      {rows.length > 0 && <section><h2>What systems link it to</h2><Sheet name="Answers" columns={[{ title: "answered" }, { title: "in the gold standard" }, { title: "systems", kind: "number" }, { title: "by" }]} rows={rows} /></section>}
      <Places data={data} dataset={dataset} mentions={mentions} tracks={tracks} />
    </>
  );
}

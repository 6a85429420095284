// Entities: how often, how well, by whom, and what they are taken for.
import { address, route } from "../route";
import { counted, type Data, expression, NOT_COUNTED, RIGHT } from "../data";
import { Bar_, Choice, chosenDataset, DatasetChoice, Entity, many, More, nameOf, number, outside, percent, Search, titleOf, useData, Wait } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";
import { NoCases } from "./cases";

function WithData({ children }: { children: (data: Data, dataset: string) => preact.ComponentChildren }) {
  const dataset = chosenDataset((one) => one.cases)!;
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => children(data, dataset.key)}</Wait>;
}

export const Entities = () => <WithData>{(data, dataset) => (route.value.asked.show === "confusions" ? <Confusions data={data} dataset={dataset} /> : <All data={data} dataset={dataset} />)}</WithData>;
export const OneEntity = () => <WithData>{(data, dataset) => <One data={data} dataset={dataset} />}</WithData>;

const SHOWN: readonly (readonly [string, string])[] = [["", "entities of the gold standard"], ["confusions", "confusions: gold entity and answered entity"]];

function Controls() {
  return <Bar_><DatasetChoice has={(one) => one.cases} /><Choice says="show" name="show" value={route.value.asked.show ?? ""} options={SHOWN} /><Search says="with" name="find" /></Bar_>;
}

const kindOf = (data: Data, t: number, g: number) => (data.byGold[t][g] < 0 ? NOT_COUNTED : data.tracks[t].kind[data.byGold[t][g]]);

function All({ data, dataset }: { data: Data; dataset: string }) {
  const { asked } = route.value;
  const keep = asked.find ? expression(asked.find) : () => true;
  const by = new Map<number, number[]>();
  data.piece.gold.entity.forEach((entity, g) => {
    if (data.tracks.some((_, t) => kindOf(data, t, g) !== NOT_COUNTED)) by.set(entity, [...(by.get(entity) ?? []), g]);
  });
  const share = (t: number, mentions: number[]) => { const own = mentions.filter((g) => kindOf(data, t, g) !== NOT_COUNTED); return own.length ? own.filter((g) => kindOf(data, t, g) === RIGHT).length / own.length : null; };
  const every = [...by].filter(([entity]) => keep(`${data.name(entity)}\n${data.id(entity)}`)).sort((a, b) => b[1].length - a[1].length);
  const at = data.tracks.findIndex((track) => nameOf(track.system) === asked.sort);
  if (at >= 0) every.sort((a, b) => (share(at, a[1]) ?? 2) - (share(at, b[1]) ?? 2));
  const columns: Column[] = [{ title: "entity" }, { title: "mentions", kind: "number" }, { title: "surfaces", minor: true }, ...data.tracks.map((track): Column => ({ title: titleOf(track.system), kind: "number", sort: nameOf(track.system), minor: true }))];
  const rows = every.slice(0, many()).map(([entity, mentions]): Cell[] => [
    { plain: data.name(entity), shown: <Entity data={data} entity={entity} dataset={dataset} /> },
    { plain: number(mentions.length), shown: <a href={address("cases", { dataset, entity: data.id(entity) })}>{number(mentions.length)}</a> },
    { plain: counted(mentions.map((g) => data.goldSurface(g))).slice(0, 4).map(([surface]) => surface).join(", ") },
    ...data.tracks.map((_, t): Cell => { const value = share(t, mentions); return { plain: percent(value, 0), heat: value ?? undefined }; }),
  ]);
  return (
    <>
      <h1 class="answer"><b>{number(every.length)}</b> entities. For each system the share of their mentions that it gets, in percent.</h1>
      <Controls />
      <Sheet name="Entities" columns={columns} rows={rows} />
      <More shown={rows.length} all={every.length} what="entities" />
    </>
  );
}

function confusions(data: Data): { gold: number; answer: number; tracks: number[]; count: number }[] {
  const found = new Map<string, { gold: number; answer: number; tracks: number[]; count: number }>();
  for (const [t, track] of data.tracks.entries())
    for (let row = 0; row < track.gold.length; row++) {
      if (track.kind[row] !== 1) continue;
      const gold = data.piece.gold.entity[track.gold[row]], answer = track.entity[row];
      const own = found.get(`${gold} ${answer}`) ?? { gold, answer, tracks: [], count: 0 };
      own.count++;
      if (!own.tracks.includes(t)) own.tracks.push(t);
      found.set(`${gold} ${answer}`, own);
    }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

function Confusions({ data, dataset }: { data: Data; dataset: string }) {
  const keep = route.value.asked.find ? expression(route.value.asked.find) : () => true;
  const every = confusions(data).filter((own) => keep(`${data.name(own.gold)}\n${data.name(own.answer)}`));
  const rows = every.slice(0, many()).map((own): Cell[] => [
    { plain: data.name(own.gold), shown: <Entity data={data} entity={own.gold} dataset={dataset} /> },
    { plain: data.name(own.answer), shown: <Entity data={data} entity={own.answer} dataset={dataset} /> },
    { plain: number(own.count), shown: <a href={address("cases", { dataset, entity: data.id(own.gold), kind: "wrong link" })}>{number(own.count)}</a> },
    { plain: own.tracks.map((t) => titleOf(data.tracks[t].system)).join(", ") },
  ]);
  return (
    <>
      <h1 class="answer"><b>{number(every.length)}</b> kinds of wrong links, the most frequent first.</h1>
      <Controls />
      <Sheet name="Confusions" columns={[{ title: "gold" }, { title: "answered" }, { title: "times", kind: "number" }, { title: "by" }]} rows={rows} />
      <More shown={rows.length} all={every.length} what="confusions" />
    </>
  );
}

function One({ data, dataset }: { data: Data; dataset: string }) {
  const id = route.value.asked.entity ?? "";
  const entity = data.place(id);
  const mentions = data.piece.gold.entity.flatMap((own, g) => (own === entity ? [g] : []));
  const wrong = confusions(data);
  const instead = wrong.filter((own) => own.gold === entity), taken = wrong.filter((own) => own.answer === entity);
  const page = outside(id);
  const columns: Column[] = [{ title: "system" }, ...data.piece.kinds.map((kind): Column => ({ title: kind, kind: "number" }))];
  const rows = data.tracks.map((track): Cell[] => [
    { plain: titleOf(track.system) },
    ...data.piece.kinds.map((kind, place): Cell => {
      let count = 0;
      for (let row = 0; row < track.gold.length; row++) if (track.kind[row] === place && (track.entity[row] === entity || (track.gold[row] >= 0 && data.piece.gold.entity[track.gold[row]] === entity))) count++;
      return { plain: number(count), shown: count ? <a href={address("cases", { dataset, entity: id, system: nameOf(track.system), kind })}>{number(count)}</a> : <span class="quiet">0</span> };
    }),
  ]);
  const pairs = (own: typeof wrong, side: "gold" | "answer") => <ul>{own.slice(0, 40).map((one) => <li key={`${one.gold} ${one.answer}`}><Entity data={data} entity={one[side]} dataset={dataset} /> <span class="quiet">{one.count} times, by {one.tracks.map((t) => titleOf(data.tracks[t].system)).join(", ")}</span></li>)}</ul>;
  return (
    <>
      <h1 dir="auto">{entity >= 0 ? data.name(entity) : id}</h1>
      <p class="answer">{page ? <a href={page} target="_blank" rel="noopener noreferrer">{id}</a> : id}: <b>{number(mentions.length)}</b> mention{mentions.length === 1 ? "" : "s"} in the gold standard{mentions.length > 0 && <>, as {counted(mentions.map((g) => data.goldSurface(g))).slice(0, 8).map(([surface, count], at) => <>{at > 0 && ", "}<a key={surface} href={address("cases", { dataset, surface })} dir="auto">“{surface}”</a> {count > 1 && <span class="quiet">{count}</span>}</>)}</>}.</p>
      <Bar_><DatasetChoice has={(one) => one.cases} /><a href={address("entities", { dataset })}>all entities</a></Bar_>
      <Sheet name="Outcomes" columns={columns} rows={rows} />
      {instead.length > 0 && <section><h2>What was answered instead</h2>{pairs(instead, "answer")}</section>}
      {taken.length > 0 && <section><h2>What was taken for it</h2>{pairs(taken, "gold")}</section>}
    </>
  );
}

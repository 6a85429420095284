// How alike are systems, what does each find alone, and where do they differ most?
import { address, ask } from "../route";
import { type Data, RIGHT } from "../data";
import { Bar_, Chooser, chosenDataset, DatasetChoice, hiding, info, many, More, nameOf, number, percent, seenSystems, seenTracks, titleOf, useData, Wait } from "../parts";
import { type Cell, type Column, ranked, Sheet, sorting } from "../sheet";
import { NoCases } from "./cases";

export function Compare() {
  const dataset = chosenDataset((one) => one.cases)!;
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => <Matrix data={data} dataset={dataset.key} />}</Wait>;
}

/** Which systems are looked at, on this page and all others. */
export function SystemsChooser() {
  const every = info.value!.systems.map((_, system) => system);
  return <Chooser says="systems" options={every.map((system) => [nameOf(system), titleOf(system)])} chosen={seenSystems().map(nameOf)} set={(chosen) => ask({ hide: chosen.length ? hiding(every.filter((system) => !chosen.includes(nameOf(system)))) : "" })} />;
}

function Matrix({ data, dataset }: { data: Data; dataset: string }) {
  const tracks = seenTracks(data), systems = tracks.map((t) => data.tracks[t].system);
  const counts = data.getters(tracks), every = counts.flatMap((count, g) => (count < 0 ? [] : [g]));
  const right = tracks.map((t) => every.map((g) => data.kindOf(t, g) === RIGHT));
  const getters = every.map((g) => counts[g]);
  const cases = (who: string, count: number, system = systems[0]) => <a href={address("cases", { dataset, system: nameOf(system), who, kind: who === "one" ? "right" : "" })}>{number(count)}</a>;
  const nobody = getters.filter((count) => !count).length, all = getters.filter((count) => count === right.length).length;
  const columns: Column[] = [{ title: "system" }, ...systems.map((system): Column => ({ title: titleOf(system), kind: "number" })), { title: "gets", kind: "number" }, { title: "gets alone", kind: "number" }];
  const alone = right.map((own) => own.filter((gets, at) => gets && getters[at] === 1).length);
  const rows = systems.map((system, a): Cell[] => [
    { plain: titleOf(system) },
    ...systems.map((other, b): Cell => {
      if (a === b) return { plain: "" };
      const union = every.filter((_, at) => right[a][at] || right[b][at]).length;
      const share = union ? every.filter((_, at) => right[a][at] && right[b][at]).length / union : 0;
      return { plain: percent(share, 0), heat: share, shown: <a class="plain" href={address("flips", { dataset, one: nameOf(system), two: nameOf(other) })}>{percent(share, 0)}</a> };
    }),
    { plain: number(right[a].filter(Boolean).length), shown: <a href={address("cases", { dataset, system: nameOf(system), kind: "right" })}>{number(right[a].filter(Boolean).length)}</a> },
    { plain: number(alone[a]), shown: cases("one", alone[a], system) },
  ]);
  return (
    <>
      <h1 class="answer">Of {number(every.length)} mentions, {tracks.length === 1 ? <>{titleOf(systems[0])} gets <b>{cases("all", all)}</b></> : <>{tracks.length === 2 ? "both" : `all ${tracks.length}`} systems get <b>{cases("all", all)}</b>, {tracks.length === 2 ? "one of them gets" : "some but not all get"} <b>{cases("some", every.length - all - nobody)}</b>, and none gets <b>{cases("none", nobody)}</b></>}.</h1>
      <Bar_><DatasetChoice has={(one) => one.cases} /><SystemsChooser /></Bar_>
      <h2>Agreement of each two</h2>
      <Sheet name="Agreement" columns={columns} rows={rows} />
      <p class="quiet says">Of the mentions that at least one of two systems gets, the share that both get, in percent. Each number opens the flips between the two.</p>
      {tracks.length > 1 && <Differing data={data} dataset={dataset} tracks={tracks} every={every} getters={getters} />}
    </>
  );
}

/** The documents on which systems differ, each of which opens with a track for each of them. */
function Differing({ data, dataset, tracks, every, getters }: { data: Data; dataset: string; tracks: readonly number[]; every: readonly number[]; getters: readonly number[] }) {
  const found = new Map<number, { doc: number; all: number; split: number; right: number[] }>();
  every.forEach((g, at) => {
    const doc = data.piece.gold.document[g];
    const own = found.get(doc) ?? { doc, all: 0, split: 0, right: tracks.map(() => 0) };
    found.set(doc, own);
    own.all++;
    if (getters[at] && getters[at] < tracks.length) own.split++;
    tracks.forEach((t, place) => { if (data.kindOf(t, g) === RIGHT) own.right[place]++; });
  });
  const cases = (who: string, doc: number, count: number) => <a class="plain" href={address("cases", { dataset, doc: data.piece.documents[doc].id, system: nameOf(data.tracks[tracks[0]].system), who })}>{number(count)}</a>;
  const { by } = sorting();
  const place = tracks.findIndex((t) => nameOf(data.tracks[t].system) === by);
  const docs = ranked([...found.values()].sort((a, b) => b.split - a.split), (own) => (by === "all" ? own.all : place >= 0 ? own.right[place] / own.all : own.split));
  const columns: Column[] = [{ title: "document" }, { title: "mentions", kind: "number", sort: "all" }, { title: "systems differ", kind: "number", sort: "split" }, ...tracks.map((t): Column => ({ title: titleOf(data.tracks[t].system), kind: "number", sort: nameOf(data.tracks[t].system), minor: tracks.length > 3 }))];
  const rows = docs.slice(0, many()).map((own): Cell[] => [
    { plain: data.title(own.doc), shown: <a href={address("text", { dataset, doc: data.piece.documents[own.doc].id })} dir="auto">{data.title(own.doc)}</a> },
    { plain: number(own.all), shown: cases("counted", own.doc, own.all) },
    { plain: number(own.split), shown: cases("some", own.doc, own.split) },
    ...own.right.map((count, at): Cell => ({ plain: percent(count / own.all, 0), heat: count / own.all, shown: <a class="plain" href={address("cases", { dataset, doc: data.piece.documents[own.doc].id, system: nameOf(data.tracks[tracks[at]].system) })}>{percent(count / own.all, 0)}</a> })),
  ]);
  return (
    <>
      <h2>Side by side on one document</h2>
      <p class="quiet says">Mentions that count, on how many of them systems differ, and the share that each gets, in percent. A document opens with a track for each system in sight.</p>
      <Sheet name="Side by side" columns={columns} rows={rows} />
      <More shown={rows.length} all={docs.length} what="documents" />
    </>
  );
}

// How alike are systems, and what does each find alone?
import { address } from "../route";
import { type Data, NOT_COUNTED, RIGHT } from "../data";
import { Bar_, type Cell, chosenDataset, type Column, DatasetChoice, nameOf, number, percent, Sheet, titleOf, useData, Wait } from "../parts";
import { NoCases } from "./cases";

export function Compare() {
  const dataset = chosenDataset((one) => one.cases)!;
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => <Matrix data={data} dataset={dataset.key} />}</Wait>;
}

function Matrix({ data, dataset }: { data: Data; dataset: string }) {
  const kind = (t: number, g: number) => (data.byGold[t][g] < 0 ? NOT_COUNTED : data.tracks[t].kind[data.byGold[t][g]]);
  const every = data.piece.gold.start.map((_, g) => g).filter((g) => data.tracks.every((_, t) => kind(t, g) !== NOT_COUNTED));
  const right = data.tracks.map((_, t) => every.map((g) => kind(t, g) === RIGHT));
  const getters = every.map((_, at) => right.filter((own) => own[at]).length);
  const alone = right.map((own) => own.filter((gets, at) => gets && getters[at] === 1).length);
  const nobody = getters.filter((count) => !count).length, all = getters.filter((count) => count === right.length).length;
  const columns: Column[] = [{ title: "system" }, ...data.tracks.map((track): Column => ({ title: titleOf(track.system), kind: "number" }))];
  const rows = data.tracks.map((track, a): Cell[] => [
    { plain: titleOf(track.system) },
    ...data.tracks.map((other, b): Cell => {
      if (a === b) return { plain: "" };
      const union = every.filter((_, at) => right[a][at] || right[b][at]).length;
      const share = union ? every.filter((_, at) => right[a][at] && right[b][at]).length / union : 0;
      return { plain: percent(share, 0), shown: <a class="heat" style={{ "--heat": share.toFixed(2) }} href={address("flips", { dataset, one: nameOf(track.system), two: nameOf(other.system) })}>{percent(share, 0)}</a> };
    }),
  ]);
  const finds: Cell[][] = data.tracks.map((track, t) => [{ plain: titleOf(track.system) }, { plain: number(right[t].filter(Boolean).length) }, { plain: number(alone[t]) }]);
  return (
    <>
      <h1 class="answer">Of {number(every.length)} mentions, all systems get <b>{number(all)}</b> and none gets <a href={address("dataset", { dataset })}><b>{number(nobody)}</b></a>; at least one gets {number(every.length - nobody)}.</h1>
      <Bar_><DatasetChoice has={(one) => one.cases} /></Bar_>
      <h2>Agreement</h2>
      <Sheet name="Agreement" columns={columns} rows={rows} />
      <p class="quiet says">Of the mentions that at least one of two systems gets, the share that both get, in percent. Each number opens the flips between the two.</p>
      <h2>Found alone</h2>
      <Sheet name="Found alone" columns={[{ title: "system" }, { title: "mentions it gets", kind: "number" }, { title: "that no other gets", kind: "number" }]} rows={finds} />
    </>
  );
}

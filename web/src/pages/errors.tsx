// What do systems get wrong? The tree of error categories as bars, each of which opens its cases.
import type { ErrorsPiece } from "../shape";
import { address, route } from "../route";
import { Bar_, Choice, chosenDataset, DatasetChoice, Hidden, hiddenSystems, info, Missing, nameOf, number, percent, titleOf, useLoaded, Wait } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";
import * as source from "../source";

const GROUPS: Record<string, string> = { "ner-fn": "Mentions that are missed", "ner-fp": "Answers where no mention is", disambiguation: "Mentions that are linked wrong", candidates: "Candidates", hyperlink: "Hyperlinks", coreference: "Coreference" };

export function Errors() {
  const loaded = useLoaded(source.errors, "errors");
  return <Wait for={loaded}>{(piece) => <Tree piece={piece} />}</Wait>;
}

function Tree({ piece }: { piece: ErrorsPiece }) {
  const dataset = chosenDataset((one) => one.cases)!;
  const place = info.value!.datasets.indexOf(dataset);
  const gone = hiddenSystems();
  const rates = route.value.asked.by === "rate";
  const counts = piece.counts.filter((one) => one.dataset === place && (!gone.has(one.system) || nameOf(one.system) === route.value.asked.system)).sort((a, b) => a.system - b.system);
  if (!counts.length) return <><Bar_><DatasetChoice /></Bar_><Missing heading says="There are no error categories here: the results were scored without them, or compare no links of mentions. Gold and answers with mentions have them:" command="karat report GOLD ANSWERS… --to html --out report.html" /></>;
  const only = counts.some((one) => nameOf(one.system) === route.value.asked.system) ? route.value.asked.system : undefined;
  const shown = counts.filter((one) => !only || nameOf(one.system) === only);
  const figure = (own: (typeof counts)[0], at: number): number | null => (rates ? (own.total[at] ? (own.errors[at] ?? 0) / own.total[at]! : null) : own.errors[at]);
  const columns: Column[] = [{ title: "error category" }, ...shown.map((one): Column => ({ title: titleOf(one.system), kind: "number" }))];
  const groups = [...new Set(piece.categories.map((one) => one.group))];
  const worst = worstOf(piece, shown);
  return (
    <>
      {worst && <h1 class="answer">{worst}</h1>}
      <Bar_>
        <DatasetChoice has={(one) => one.cases} />
        <Choice says="as" name="by" value={rates ? "rate" : ""} options={[["", "numbers of errors"], ["rate", "shares of the cases in which it could happen"]]} />
        <Choice says="of" name="system" value={only ?? ""} options={[["", "all systems"], ...counts.map((one) => [nameOf(one.system), titleOf(one.system)] as const)]} />
        <Hidden />
      </Bar_>
      {groups.map((group) => {
        const members = piece.categories.map((one, at) => ({ ...one, at })).filter((one) => one.group === group && shown.some((own) => own.errors[one.at]));
        if (!members.length) return null;
        const most = Math.max(...members.flatMap((one) => shown.map((own) => figure(own, one.at) ?? 0)), rates ? 0.01 : 1);
        const rows = members.map((one, row): Cell[] => [
          { plain: one.title, shown: <span class={row > 0 && members[0].title !== one.title ? "below" : "wide"} title={`${one.says} ${one.among}`}>{one.title}</span> },
          ...shown.map((own): Cell => {
            const value = figure(own, one.at);
            const text = value === null ? "–" : rates ? percent(value) : number(value);
            const says = own.total[one.at] === null ? `${own.errors[one.at]} errors` : `${own.errors[one.at]} of ${own.total[one.at]}${own.undecided[one.at] ? `, ${own.undecided[one.at]} undecided` : ""}`;
            return {
              plain: text,
              shown: (
                <a class="filled" href={address("cases", { dataset: dataset.key, system: nameOf(own.system), error: one.name })} title={says}>
                  <span class="room"><span class={value ? "fill" : "fill none"} style={{ width: `${value === null ? 0 : (100 * value) / most}%` }} /></span>
                  <span class="figure">{text}</span>
                </a>
              ),
            };
          }),
        ]);
        return (
          <section key={group}>
            <h2>{GROUPS[group] ?? group}</h2>
            <Sheet name={GROUPS[group] ?? group} columns={columns} rows={rows} />
          </section>
        );
      })}
      <p class="quiet says">A case may be in several categories. Point at a name for what it means, at a bar for the numbers; a bar opens its cases.</p>
    </>
  );
}

/** In a sentence what hurts each of the systems most, by their whole groups. */
function worstOf(piece: ErrorsPiece, shown: ErrorsPiece["counts"]) {
  const heads = piece.categories.map((one, at) => ({ ...one, at })).filter((one, _, all) => all.find((other) => other.group === one.group) === one && one.name in { "ner-fn": 1, "ner-fp": 1, disambiguation: 1 });
  if (!heads.length || !shown.length) return null;
  const words: Record<string, string> = { "ner-fn": "missed mentions", "ner-fp": "answers where no mention is", disambiguation: "wrong links" };
  const most = shown.map((own) => heads.reduce((a, b) => ((own.errors[b.at] ?? 0) > (own.errors[a.at] ?? 0) ? b : a))).map((one) => words[one.name]);
  const common = [...new Set(most)];
  const errors = shown.filter((own) => heads.some((one) => own.errors[one.at]));
  if (!errors.length) return null;
  if (common.length === 1) return <>What {shown.length > 1 ? "all systems get" : `${titleOf(shown[0].system)} gets`} wrong most: <b>{common[0]}</b>.</>;
  return <>Most errors are {common.map((what, at) => <>{at > 0 && "; "}<b>{what}</b> of {shown.filter((_, place) => most[place] === what && errors.includes(shown[place])).map((own) => titleOf(own.system)).join(", ")}</>)}.</>;
}

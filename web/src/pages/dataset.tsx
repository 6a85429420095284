// Is the gold standard right?
import type { DatasetPiece } from "../shape";
import { address, but, route } from "../route";
import { counted, type Data, NOT_COUNTED, RIGHT } from "../data";
import { Bar_, chosenDataset, DatasetChoice, Entity, Golden, Hidden, many, Missing, More, nameOf, number, seenTracks, useData, useLoaded, useTexts, Wait, Within } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";
import * as source from "../source";

export function Dataset() {
  const dataset = chosenDataset((one) => one.cases)!;
  const piece = useLoaded(() => source.dataset(dataset.key), dataset.key);
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><Missing heading says="There are no single cases here: only results were given, or what is compared are no mentions of a text. Gold and answers with mentions have cases:" command="karat report --gold GOLD ANSWERS… --to html --out report.html" /></>;
  return <Wait for={useData(dataset.key)}>{(data) => <Wait for={piece}>{(own) => <Gold data={data} piece={own} dataset={dataset.key} />}</Wait>}</Wait>;
}

function Gold({ data, piece, dataset }: { data: Data; piece: DatasetPiece; dataset: string }) {
  const { gold } = data.piece;
  const kind = (t: number, g: number) => data.kindOf(t, g);
  // A system that answers the gold standard itself would contradict nothing.
  const judges = seenTracks(data).filter((t) => gold.start.some((_, g) => kind(t, g) !== RIGHT && kind(t, g) !== NOT_COUNTED));
  const contradicted = gold.start.flatMap((_, g) => {
    if (!judges.length || judges.some((t) => kind(t, g) === RIGHT || kind(t, g) === NOT_COUNTED)) return [];
    const answers = judges.filter((t) => kind(t, g) === 1).map((t) => data.tracks[t].entity[data.byGold[t][g]]);
    const [most] = counted(answers);
    return [{ g, answer: most?.[0] ?? null, agree: most?.[1] ?? 0, answered: answers.length }];
  });
  const linked = contradicted.filter((one) => one.agree > 0).sort((a, b) => b.answered - a.answered || b.agree - a.agree || a.g - b.g);
  const shown = linked.slice(0, many());
  const texts = useTexts(dataset, data, shown.map((one) => gold.document[one.g]));
  const columns: Column[] = [{ title: "mention" }, { title: "gold" }, { title: "most say" }, { title: "say so", kind: "number" }, { title: "say something else than the gold", kind: "number" }, { title: "document", minor: true }];
  const rows = shown.map(({ g, answer, agree, answered }): Cell[] => {
    const doc = gold.document[g];
    return [
      { plain: data.goldSurface(g), shown: <a class="plain" href={address("text", { dataset, doc: data.piece.documents[doc].id, at: `${gold.start[g]}-${gold.end[g]}` })}><Within stretches={texts.value?.get(doc)} start={gold.start[g]} end={gold.end[g]} surface={data.goldSurface(g)} /></a> },
      { plain: data.name(gold.entity[g]), shown: <Golden data={data} mention={g} dataset={dataset} /> },
      { plain: data.name(answer!), shown: <Entity data={data} entity={answer!} dataset={dataset} /> },
      { plain: `${agree} of ${judges.length}`, shown: <a href={address("cases", { dataset, doc: data.piece.documents[doc].id, surface: data.goldSurface(g), entity: data.id(answer!) })}><span class="figure">{agree} of {judges.length}</span></a> },
      { plain: `${answered} of ${judges.length}`, best: answered === judges.length, shown: <a href={address("cases", { dataset, doc: data.piece.documents[doc].id, surface: data.goldSurface(g), kind: "wrong link" })}><span class="figure">{answered} of {judges.length}</span></a> },
      { plain: data.piece.documents[doc].id, shown: <span class="quiet" dir="auto">{data.title(doc)}</span> },
    ];
  });
  const count = data.getters(judges).filter((one) => one >= 0).length;
  const rule = route.value.asked.rule;
  const findings = piece.findings.filter((one) => !rule || one.rule === rule).slice(0, 100);
  const figures = piece.numbers.filter(([, value]) => value !== null && value !== "");
  const every = linked.filter((one) => one.answered === judges.length).length, sharp = linked.filter((one) => one.agree === judges.length).length;
  return (
    <>
      <h1 class="answer">
        <b>{piece.dataset}</b>: {number(data.piece.documents.length)} documents, {number(gold.start.length)} mentions{count < gold.start.length && `, of which ${number(count)} count`}. {judges.length > 1 && <>No system gets <b><a href={address("cases", { dataset, system: nameOf(data.tracks[judges[0]].system), who: "none" })}>{number(contradicted.length)}</a></b> of them. {every > 0 && <>Every system links <b>{number(every)}</b> to something else{sharp > 0 && <>, {sharp === every ? "" : `${number(sharp)} of them `}all to the same</>}. </>}</>}
        The linter finds {number(piece.rules.reduce((sum, one) => sum + one[3], 0))} defects.
      </h1>
      <Bar_><DatasetChoice has={(one) => one.cases} /><Hidden /></Bar_>
      {linked.length > 0 && <><h2>Labels that no system agrees with</h2><Sheet name="Labels that no system agrees with" columns={columns} rows={rows} /><More shown={shown.length} all={linked.length} what="mentions" /></>}
      {piece.rules.length > 0 && (
        <>
          <h2>What the linter finds</h2>
          <Sheet name="Rules" columns={[{ title: "rule" }, { title: "severity" }, { title: "findings", kind: "number" }]} rows={piece.rules.map(([name, title, severity, count]): Cell[] => [{ plain: title, shown: <a href={but({ rule: rule === name ? "" : name })}>{title}</a> }, { plain: severity }, { plain: number(count), shown: <a href={but({ rule: name })}>{number(count)}</a> }])} />
          <ul class="findings">
            {findings.map((one, at) => (
              <li key={at}>
                {one.document >= 0 && one.start >= 0 ? <a href={address("text", { dataset, doc: data.piece.documents[one.document]?.id, at: `${one.start}-${one.end}` })} dir="auto">{one.surface || `${one.start}–${one.end}`}</a> : one.document >= 0 ? <a href={address("text", { dataset, doc: data.piece.documents[one.document]?.id })} dir="auto">{data.title(one.document)}</a> : <b>the corpus</b>}{" "}
                <span class="quiet">{one.says} {one.proposal}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <div class="columns">
        <section><h2>In numbers</h2><dl>{figures.map(([name, value]) => <><dt key={name}>{name}</dt><dd>{typeof value === "number" ? number(value) : value}</dd></>)}</dl></section>
        {piece.types.length > 0 && <section><h2>Types</h2><dl>{piece.types.slice(0, 30).map(([name, count]) => <><dt key={name} dir="auto"><a href={address("cases", { dataset, type: name })}>{name}</a></dt><dd>{number(count)}</dd></>)}</dl></section>}
        {piece.mention_types.length > 0 && <section><h2>Kinds of mentions</h2><dl>{piece.mention_types.map(([name, count]) => <><dt key={name}>{name}</dt><dd>{number(count)}</dd></>)}</dl></section>}
      </div>
    </>
  );
}

// Single cases behind a number; each opens in its text.
import { address, but, route } from "../route";
import { type Case, type Data, type Filter, counted, WHO_SAYS } from "../data";
import { Bar_, Choice, chosenDataset, DatasetChoice, Entity, Golden, Hidden, hiddenSystems, info, Kind, many, Missing, More, nameOf, number, Search, seenTracks, systemNames, titleOf, useData, useTexts, Wait, Within } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";

export function Cases() {
  const dataset = chosenDataset((one) => one.cases)!;
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><NoCases /></>;
  return <Wait for={useData(dataset.key)}>{(data) => <List data={data} key={dataset.key} dataset={dataset.key} />}</Wait>;
}

export function NoCases() {
  return <Missing heading says="There are no single cases here: only results were given, or what is compared are no mentions of a text. Gold and answers with mentions have cases:" command="karat report --gold GOLD ANSWERS… --to html --out report.html" />;
}

export function filterOf(asked: Readonly<Record<string, string>>): Filter {
  const { system, kind, error, entity, surface, type, label, is, who, find } = asked;
  return { system, kind, error, entity, surface, type, label, is, who, find };
}

function List({ data, dataset }: { data: Data; dataset: string }) {
  const { asked } = route.value;
  const filter = { ...filterOf(asked), doc: asked.doc };
  const gone = hiddenSystems();
  const seen = (all: Case[]) => (asked.system ? all : all.filter((one) => !gone.has(data.tracks[one.track].system)));
  const every = seen(data.filtered({ ...filter, kind: undefined }, systemNames(), seenTracks(data)));
  const kinds = counted(every.map((one) => data.tracks[one.track].kind[one.row]));
  const found = asked.kind ? seen(data.filtered(filter, systemNames(), seenTracks(data))) : every;
  const shown = found.slice(0, many());
  const texts = useTexts(dataset, data, shown.map((one) => data.tracks[one.track].document[one.row]));
  const several = !asked.system && data.tracks.length > 1;
  const columns: Column[] = [{ title: "in the text" }, ...(several ? [{ title: "system" }] : []), { title: "outcome" }, { title: "gold" }, { title: "answered" }, { title: "error categories", minor: true }, { title: "document", minor: true }];
  const rows = shown.map((one): Cell[] => {
    const track = data.tracks[one.track];
    const g = track.gold[one.row], doc = track.document[one.row];
    const [start, end] = data.span(one);
    const goldEntity = g < 0 ? null : data.piece.gold.entity[g];
    const answer = track.start[one.row] < 0 ? null : track.entity[one.row];
    const target = address("text", { dataset, doc: data.piece.documents[doc].id, at: `${start}-${end}`, ...filterOf(asked), system: asked.system ?? "" });
    const errors = data.errors(one);
    return [
      { plain: data.surface(one), shown: <a href={target} class="plain"><Within stretches={texts.value?.get(doc)} start={start} end={end} surface={data.surface(one)} /></a> },
      ...(several ? [{ plain: titleOf(track.system) }] : []),
      { plain: data.piece.kinds[track.kind[one.row]], shown: <Kind data={data} kind={track.kind[one.row]} /> },
      { plain: goldEntity === null ? "" : data.name(goldEntity), shown: goldEntity === null ? <span class="quiet">no mention</span> : <Golden data={data} mention={g} dataset={dataset} /> },
      { plain: answer === null ? "" : data.name(answer), shown: answer === null ? <span class="quiet">nothing</span> : <Entity data={data} entity={answer} dataset={dataset} /> },
      { plain: errors.join(", "), shown: <span class="quiet">{errors.map((error) => data.category(error).title).join(", ")}</span> },
      { plain: data.piece.documents[doc].id, shown: <span class="quiet" dir="auto">{data.title(doc)}</span> },
    ];
  });
  const part = data.part(asked.label, asked.is);
  const what = [asked.error && `in the category “${data.category(asked.error).title}”`, asked.entity && `about ${data.called(asked.entity)}`, asked.surface && `on “${asked.surface}”`, asked.type && `of type ${asked.type}`, asked.is && `that are “${part?.title ?? asked.is}”${part ? ` (${part.label.title.toLowerCase()})` : ""}`, WHO_SAYS[asked.who ?? ""], asked.doc && `in ${data.title(data.doc(asked.doc))}`].filter(Boolean).join(", ");
  return (
    <>
      <h1 class="answer"><b>{number(found.length)}</b> case{found.length === 1 ? "" : "s"}{systemNames().includes(asked.system) && ` of ${titleOf(systemNames().indexOf(asked.system))}`}{what && ` ${what}`}{asked.kind ? <>, {asked.kind.split(",").join(" or ")}, of {number(every.length)}</> : kinds.length ? <>: {kinds.map(([kind, count], at) => <>{at > 0 && ", "}<a href={but({ kind: data.piece.kinds[kind] })}>{number(count)} {data.piece.kinds[kind]}</a></>)}</> : null}.</h1>
      <Bar_>
        <DatasetChoice has={(one) => one.cases} />
        <Choice says="of" name="system" value={asked.system ?? ""} options={[["", "all systems"], ...data.tracks.map((track) => [nameOf(track.system), titleOf(track.system)] as const)]} />
        <Choice says="that are" name="kind" value={asked.kind ?? ""} options={[["", "of any outcome"], ["wrong link,wrong span,missed,spurious", "wrong in any way"], ...data.piece.kinds.map((kind) => [kind, kind] as const)]} />
        <Choice says="in" name="error" value={asked.error ?? ""} options={[["", "any error category"], ...data.piece.categories.map((one) => [one, data.category(one).title] as const)]} />
        <Search says="with" name="find" />
        {!asked.system && <Hidden />}
        {(asked.entity || asked.surface || asked.doc || asked.type || asked.is || asked.who) && <a href={address("cases", { dataset, system: asked.system })}>all cases</a>}
      </Bar_>
      {found.length ? <Sheet name="Cases" columns={columns} rows={rows} /> : <p>No case is like this.</p>}
      <More shown={shown.length} all={found.length} what="cases" />
      {!info.value!.datasets.find((one) => one.key === dataset)!.texts && <p class="quiet">The texts are not in here (--texts none): cases are told by their offsets.</p>}
    </>
  );
}

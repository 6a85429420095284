// Why is this number not theirs? The same answers under every profile, and the gap choice by choice.
import { useEffect, useRef } from "preact/hooks";
import type { MeasureTable, ProfileInfo, Reasons, ReasonsPiece, ReasonStep } from "../shape";
import { address, but, route } from "../route";
import { Bar_, Choice, chosenDataset, DatasetChoice, Hidden, info, many, Missing, More, nameOf, number, percent, seenSystems, signed, titleOf, useData, useLoaded, useTexts, Wait, Within } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";
import type { Data } from "../data";
import * as source from "../source";

export function Conventions() {
  const board = info.value!;
  const dataset = chosenDataset()!;
  const place = board.datasets.indexOf(dataset);
  const tables = board.profiles.map((profile) => ({ profile, table: board.tables.find((one) => one.profile === profile.name && one.measure === profile.headline)! }));
  const own = tables[0].table, systems = seenSystems();
  const rows = tables.map(({ profile, table }): Cell[] => [
    { plain: profile.title, shown: <><span title={profile.says}>{profile.title}</span> <span class="quiet">{profile.headline}</span></> },
    ...systems.map((system): Cell => {
      const value = table.value[place][system], base = own.value[place][system];
      const gap = value !== null && base !== null && table !== own && !profile.headline.includes("/") ? value - base : null;
      const open = dataset.reasons.includes(profile.name);
      const shown = <><span class="figure">{percent(value)}</span><span class={gap === null ? "gap" : `gap ${gap < 0 ? "less" : "more"}`}>{gap === null ? "" : signed(gap)}</span></>;
      return { plain: percent(value), shown: open && value !== null ? <a href={but({ theirs: profile.name, system: nameOf(system), step: "" })}>{shown}</a> : shown };
    }),
  ]);
  const refused = [...new Set(board.notes.filter((one) => one.dataset === place).flatMap((one) => Object.entries(one.refused).map(([name, why]) => `${name} (${why})`)))];
  const columns: Column[] = [{ title: "conventions" }, ...systems.map((system): Column => ({ title: titleOf(system), kind: "number" }))];
  return (
    <>
      <Spread tables={tables} place={place} system={systems.find((system) => nameOf(system) === route.value.asked.system) ?? systems[0]} />
      <Bar_><DatasetChoice /><Hidden /></Bar_>
      <Sheet name="Conventions" columns={columns} rows={rows} />
      {dataset.reasons.length > 0 && <p class="quiet says">The numbers of {dataset.reasons.map((name) => board.profiles.find((one) => one.name === name)?.title ?? name).join(", ")} open what makes them differ{board.profiles.length > dataset.reasons.length + 1 && <>; those of others do if the report is made with --why and their name</>}.</p>}
      {refused.length > 0 && <p class="quiet says">Without a number: {refused.join("; ")}</p>}
      {tables.length === 1 && <Missing says="Only one profile is in here. Others come with gold and answers:" command="karat report --gold GOLD ANSWERS… --to html --out report.html" />}
      {dataset.reasons.length ? <Gap key={dataset.key} dataset={dataset.key} profiles={dataset.reasons} /> : <Missing says="Why the numbers differ is not in here. Ask for it by profile:" command="karat report --gold GOLD ANSWERS… --why gerbil --to html --out report.html" />}
    </>
  );
}

/** In a sentence how far apart profiles are on the same answers. */
function Spread({ tables, place, system }: { tables: readonly { profile: ProfileInfo; table: MeasureTable }[]; place: number; system: number }) {
  const known = tables.flatMap(({ profile, table }) => (table.value[place][system] === null ? [] : [{ title: profile.title, value: table.value[place][system]! }]));
  const [low, high] = [known.reduce((a, b) => (b.value < a.value ? b : a), known[0]), known.reduce((a, b) => (b.value > a.value ? b : a), known[0])];
  if (known.length < 2 || low.value === high.value) return <h1 class="answer">The same answers under {tables.length === 1 ? "one profile" : `${tables.length} profiles`}.</h1>;
  return <h1 class="answer">The same answers of <b>{titleOf(system)}</b> get {percent(low.value)} under the conventions of {low.title} and {percent(high.value)} under those of {high.title}; {tables[0].profile.title} says {percent(known[0].value)}.</h1>;
}

function Gap({ dataset, profiles }: { dataset: string; profiles: string[] }) {
  const loaded = useLoaded(() => source.reasons(dataset), dataset);
  return <Wait for={loaded}>{(piece) => <Chosen piece={piece} dataset={dataset} profiles={profiles} />}</Wait>;
}

function Chosen({ piece, dataset, profiles }: { piece: ReasonsPiece; dataset: string; profiles: string[] }) {
  const { asked } = route.value;
  const board = info.value!;
  const profile = asked.theirs && profiles.includes(asked.theirs) ? asked.theirs : profiles[0];
  const there = piece.reasons.filter((one) => one.profile === profile);
  const holder = useRef<HTMLElement>(null), chosen = `${asked.system ?? ""} ${asked.theirs ?? ""}`, before = useRef(chosen);
  // What a number of the table above asks for comes into sight.
  useEffect(() => {
    if (before.current !== chosen) holder.current?.scrollIntoView({ block: "start" });
    before.current = chosen;
  }, [chosen]);
  const found = there.find((one) => nameOf(one.system) === asked.system) ?? there.find((one) => seenSystems().includes(one.system)) ?? there[0];
  if (!found) return null;
  const title = board.profiles.find((one) => one.name === profile)?.title ?? profile;
  return (
    <section ref={holder}>
      <h2>{titleOf(found.system)}: from {title} to {board.profiles[0].title}</h2>
      <p class="answer">{title} says {percent(found.theirs)} ({found.their_measure}), {board.profiles[0].title} says {percent(found.ours)} ({found.our_measure}): <b>{signed(found.ours - found.theirs)}</b> points.</p>
      <Bar_>
        <Choice says="of" name="system" value={nameOf(found.system)} options={there.map((one) => [nameOf(one.system), titleOf(one.system)])} small={{ step: "" }} />
        {profiles.length > 1 && <Choice says="from" name="theirs" value={profile} options={profiles.map((one) => [one, board.profiles.find((own) => own.name === one)?.title ?? one])} small={{ step: "" }} />}
      </Bar_>
      <Waterfall found={found} />
      <Flipped found={found} dataset={dataset} />
    </section>
  );
}

function Waterfall({ found }: { found: Reasons }) {
  const points = [found.theirs];
  for (const step of found.steps) points.push(points.at(-1)! + step.share);
  const low = Math.min(...points), high = Math.max(...points), room = (high - low) * 0.08 || 0.01;
  const at = (value: number) => (100 * (value - low + room)) / (high - low + 2 * room);
  const rows = found.steps.map((step, place): Cell[] => {
    const [from, to] = [points[place], points[place + 1]].map(at);
    const name = step.choices.map(([choice]) => choice).join(", ");
    return [
      { plain: name, shown: <a href={but({ step: route.value.asked.step === String(place) ? "" : place })}>{name}</a> },
      { plain: step.choices.map(([, theirs, ours]) => `${theirs} → ${ours}`).join(", ") },
      { plain: signed(step.share), shown: <span class="fall"><i class={step.share < 0 ? "less" : "more"} style={{ insetInlineStart: `${Math.min(from, to)}%`, width: `${Math.max(0.4, Math.abs(to - from))}%` }} /></span> },
      { plain: signed(step.share) },
      { plain: number(step.flipped), shown: step.flipped ? <a href={but({ step: place })}>{number(step.flipped)}</a> : <span class="quiet">0</span> },
    ];
  });
  return (
    <>
      <Sheet name="Gap" columns={[{ title: "choice" }, { title: "theirs → ours", minor: true }, { title: "from theirs to ours" }, { title: "points", kind: "number" }, { title: "cases", kind: "number" }]} rows={rows} />
      <p class="quiet says">Shares are Shapley values: what each choice adds on average over all orders; they add up to the gap. {found.idle.length > 0 && `Without effect here: ${found.idle.join(", ")}.`}</p>
    </>
  );
}

function Flipped({ found, dataset }: { found: Reasons; dataset: string }) {
  const step = found.steps[Number(route.value.asked.step)];
  const data = useData(dataset);
  if (route.value.asked.step === undefined || route.value.asked.step === "" || !step) return null;
  return (
    <>
      <h2>{number(step.flipped)} cases that {step.choices.map(([name]) => name).join(", ")} changes by itself</h2>
      <Wait for={data}>{(own) => <Turned data={own} found={found} step={step} dataset={dataset} />}</Wait>
      {step.flips.length < step.flipped && <p class="quiet">The first {number(step.flips.length)} of {number(step.flipped)} are listed.</p>}
    </>
  );
}

/** Cases, and how each counts before and after. */
function Turned({ data: own, found, step, dataset }: { data: Data; found: Reasons; step: ReasonStep; dataset: string }) {
  const shown = step.flips.slice(0, many());
  const texts = useTexts(dataset, own, shown.flatMap((flip) => (flip.document < 0 ? [] : [flip.document])));
  const turn = ([before, after]: [string, string]) => (before || after ? `${before || "–"} → ${after || "–"}` : "");
  return (
    <>
      <Sheet
        name="Flipped"
        columns={[{ title: "case" }, { title: "gold" }, { title: "gold counts" }, { title: "answered" }, { title: "answer counts" }]}
        rows={shown.map((flip): Cell[] => [
          { plain: flip.surface, shown: flip.document >= 0 ? <a class="plain" href={address("text", { dataset, doc: own.piece.documents[flip.document].id, at: `${flip.start}-${flip.end}`, tracks: nameOf(found.system) })}><Within stretches={texts.value?.get(flip.document)} start={flip.start} end={flip.end} surface={flip.surface || `${flip.start}–${flip.end}`} /></a> : flip.surface },
          { plain: flip.gold ?? "", shown: <span dir="auto">{flip.gold === null ? "" : own.called(flip.gold)}</span> },
          { plain: turn(flip.gold_turn) },
          { plain: flip.answer ?? "", shown: <span dir="auto">{flip.answer === null ? "" : own.called(flip.answer)}</span> },
          { plain: turn(flip.answer_turn) },
        ])}
      />
      <More shown={shown.length} all={step.flips.length} what="cases" />
    </>
  );
}

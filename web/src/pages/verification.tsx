// What judges found: what was shown, what became of it, and scores before and after the fact.
import type { PosthocScore, SourceOutcomes, VerificationFile, VerificationPiece } from "../shape";
import { Bar_, Choice, Missing, number, percent, useLoaded, Wait } from "../parts";
import { type Cell, type Column, Sheet } from "../sheet";
import { route } from "../route";
import * as source from "../source";

export function Verification() {
  const found = useLoaded(source.verification, "verification");
  return <Wait for={found}>{(piece) => (piece.campaigns.length ? <Campaigns piece={piece} /> : <Missing heading says="Nobody has judged these answers." command="karat verify report CAMPAIGN.sqlite --archive FOLDER" />)}</Wait>;
}

const rows = (piece: VerificationPiece): [VerificationFile, SourceOutcomes][] => piece.campaigns.flatMap((one) => one.sources.map((own) => [one, own] as [VerificationFile, SourceOutcomes]));
const count = (value: number): Cell => ({ plain: number(value) });
const text = (plain: string): Cell => ({ plain });
const numeric = (...titles: string[]): Column[] => titles.map((title) => ({ title, kind: "number" }));
const who = (one: VerificationFile): string => (one.judged_by === "people" ? one.dataset : `${one.dataset} (by the machine ${one.judged_by})`);

function Campaigns({ piece }: { piece: VerificationPiece }) {
  const names = Object.keys(piece.readings);
  const reading = names.includes(route.value.asked.reading) ? route.value.asked.reading : names[0];
  const every = rows(piece);
  return (
    <>
      <Answer piece={piece} />
      <h2>What was shown</h2>
      <Sheet
        name="What was shown"
        columns={[{ title: "dataset" }, { title: "source" }, ...numeric("documents", "links", "tasks", "links shown", "open")]}
        rows={every.map(([one, own]) => [text(who(one)), text(own.source), count(one.documents), count(own.links), count(own.tasks), count(own.shown), count(own.open)])}
      />
      <h2>What became of it</h2>
      <p class="quiet says">Modified links are errors of linking, removed ones errors of detection.</p>
      <Sheet
        name="What became of it"
        columns={[{ title: "dataset" }, { title: "source" }, { title: "outcomes" }, ...numeric("verified", "modified", "removed", "verification rate")]}
        rows={every.map(([one, own]) => [text(who(one)), text(own.source), { plain: "", shown: <Outcomes of={own} /> }, count(own.verified), count(own.modified), count(own.removed), text(percent(own.verification_rate))])}
      />
      <h2>Precision and recall before and after the fact</h2>
      <Bar_><Choice says="after the fact, as read by the" name="reading" options={names.map((name) => [name, name])} value={reading} /></Bar_>
      <p class="quiet says">Before: against the gold standard as it was, the same entity on an overlapping span. After: {piece.readings[reading]}. {interval(piece)}</p>
      <Sheet
        name="Precision and recall"
        columns={[{ title: "dataset" }, { title: "source" }, ...numeric("precision before", "precision after", "recall before", "recall after")]}
        rows={every.map(([one, own]) => [
          text(who(one)),
          text(own.source),
          ...(["precision", "recall"] as const).flatMap((what) => [scored(own.before.weak, what), scored(own.posthoc[reading], what)]),
        ])}
      />
      <h2>Who judged</h2>
      <Sheet
        name="Who judged"
        columns={[{ title: "dataset" }, ...numeric("judges", "failed a control", "median seconds", "links judged twice", "the same", "kappa", "alpha", "missing from the gold")]}
        rows={piece.campaigns.map((one) => [
          text(who(one)),
          count(one.judges.length),
          count(one.judges.filter((own) => own.passing === "failed").length),
          text(one.seconds[1] === null ? "–" : one.seconds[1].toFixed(1)),
          count(one.agreement.items),
          text(percent(one.agreement.same)),
          text(one.agreement.kappa?.toFixed(3) ?? "–"),
          text(one.agreement.alpha?.toFixed(3) ?? "–"),
          text(percent(one.missing_from_gold[reading]?.share)),
        ])}
      />
    </>
  );
}

/** In a sentence whose links judges accept most, beside the gold standard. */
function Answer({ piece }: { piece: VerificationPiece }) {
  const one = piece.campaigns[0];
  const [gold, ...others] = one.sources;
  const best = others.filter((own) => own.verification_rate !== null).sort((a, b) => b.verification_rate! - a.verification_rate!)[0];
  if (gold.verification_rate === null) return <h1 class="answer">Nobody has judged the gold standard of {one.dataset} yet.</h1>;
  return (
    <h1 class="answer">
      Judges verified {percent(gold.verification_rate)} % of the gold standard of {one.dataset}{best && <>, and {percent(best.verification_rate)} % of the links of <b>{best.source}</b></>}. Of all links that they accepted, {percent(one.missing_from_gold.paper?.share)} % are missing from the gold.
    </h1>
  );
}

function interval(piece: VerificationPiece): string {
  const { interval_level: level, interval_unit: unit, resamples } = piece.campaigns[0];
  return resamples ? `Whiskers are intervals at ${percent(level, 0)} % over ${unit}s.` : "";
}

/** Verified, modified and removed as parts of one bar; the figures beside it say the same. */
function Outcomes({ of }: { of: SourceOutcomes }) {
  const all = of.verified + of.modified + of.removed || 1;
  const parts = [["right", of.verified], ["link", of.modified], ["missed", of.removed]] as const;
  let at = 0;
  return (
    <svg class="outcomes" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={`${of.verified} verified, ${of.modified} modified, ${of.removed} removed`}>
      {parts.map(([kind, part]) => {
        const x = at;
        at += (100 * part) / all;
        return <rect key={kind} class={kind} x={x} y="0" width={(100 * part) / all} height="10" />;
      })}
    </svg>
  );
}

function scored(score: PosthocScore | undefined, what: "precision" | "recall"): Cell {
  const value = score?.[what] ?? null;
  const bounds = score?.[`${what}_interval`] ?? null;
  const at = (one: number) => 100 * Math.min(1, one);
  return {
    plain: percent(value),
    shown: value === null ? "–" : (
      <span title={bounds ? `${percent(bounds[0])} to ${percent(bounds[1])}` : ""}>
        <span class="figure">{percent(value)}</span>
        <svg class="whisker" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          {bounds && <line x1={at(bounds[0])} x2={at(bounds[1])} y1="4" y2="4" vector-effect="non-scaling-stroke" />}
          <line class="dot" x1={at(value)} x2={at(value)} y1="0" y2="8" vector-effect="non-scaling-stroke" />
        </svg>
      </span>
    ),
  };
}

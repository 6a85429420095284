// Scores over thresholds, coverage, categories, difficulty and time.
import { ask, route } from "../route";
import { Bar_, Chooser, chosenDataset, DatasetChoice, Hidden, Missing, useLoaded, Wait } from "../parts";
import { Chart } from "../chart";
import * as source from "../source";

export function Curves() {
  const dataset = chosenDataset((one) => one.curves)!;
  const loaded = useLoaded(() => (dataset.curves ? source.curves(dataset.key) : Promise.resolve({ dataset: dataset.name, charts: [], missing: [] })), dataset.key);
  return (
    <Wait for={loaded}>
      {(piece) => {
        const given = (route.value.asked.charts ?? "").split(" ");
        const named = piece.charts.filter((chart) => given.includes(chart.name)), charts = named.length ? named : piece.charts;
        return (
          <>
            <h1 class="answer">How far scores of answers can be trusted, what is hard, and what systems take.</h1>
            <Bar_>
              <DatasetChoice has={(one) => one.curves} />
              {piece.charts.length > 1 && <Chooser says="charts" options={piece.charts.map((chart) => [chart.name, chart.title])} chosen={charts.map((chart) => chart.name)} set={(chosen) => ask({ charts: chosen.length === piece.charts.length ? "" : chosen.join(" ") })} />}
              <Hidden />
            </Bar_>
            {charts.length ? <div class="charts">{charts.map((chart) => <Chart key={chart.name} chart={chart} />)}</div> : <Missing says="There is nothing to draw: the answers have no scores, and no file says how long a system took. Answers with a score have curves:" command={'{"start": 0, "end": 6, "entity": "Q64", "score": 0.9}'} />}
            {piece.missing.length > 0 && <section><h2>What could not be drawn</h2><ul class="quiet">{[...new Set(piece.missing.map(([, why]) => why))].map((why) => <li key={why}>{piece.missing.filter((one) => one[1] === why).map(([name]) => name.replaceAll("-", " ")).join(", ")}: {why}</li>)}</ul></section>}
          </>
        );
      }}
    </Wait>
  );
}

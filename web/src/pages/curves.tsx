// Scores over thresholds, coverage and time.
import { useRef } from "preact/hooks";
import type { DrawnChart } from "../shape";
import { Bar_, chosenDataset, DatasetChoice, Missing, titleOf, useLoaded, Wait } from "../parts";
import * as source from "../source";

const WIDTH = 560, HEIGHT = 320, LEFT = 46, BOTTOM = 40, TOP = 14, RIGHT = 16;

export function Curves() {
  const dataset = chosenDataset((one) => one.curves)!;
  const loaded = useLoaded(() => (dataset.curves ? source.curves(dataset.key) : Promise.resolve({ dataset: "", charts: [] })), dataset.key);
  return (
    <>
      <h1 class="answer">What scores of answers tell: how far they can be trusted, and what systems take.</h1>
      <Bar_><DatasetChoice has={(one) => one.curves} /></Bar_>
      <Wait for={loaded}>
        {(piece) => {
          const charts = piece.charts.filter((chart) => chart.lines.some((one) => one.x.length > 1) || chart.marked.length);
          if (!charts.length) return <Missing says="There is nothing to draw: the answers have no scores, and no file says how long a system took. Answers with a score have curves:" command={'{"start": 0, "end": 6, "entity": "Q64", "score": 0.9}'} />;
          return <div class="charts">{charts.map((chart) => <Chart key={chart.title} chart={chart} logarithmic={chart.x === "seconds"} />)}</div>;
        }}
      </Wait>
    </>
  );
}

function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough)!;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step) found.push(Number(at.toPrecision(6)));
  return found;
}

function powers(low: number, high: number): number[] {
  const found = [];
  for (let at = Math.floor(Math.log10(low)); at <= Math.ceil(Math.log10(high)); at++) found.push(10 ** at);
  return found;
}

const DASHES = ["", "6 3", "2 2", "8 3 2 3", "1 3", "10 4", "4 4 1 4"];

function Chart({ chart, logarithmic }: { chart: DrawnChart; logarithmic: boolean }) {
  const drawing = useRef<SVGSVGElement>(null);
  const every = [...chart.lines, ...chart.marked];
  const xs = every.flatMap((one) => one.x);
  const scale = logarithmic ? Math.log10 : (value: number) => value;
  const marks = logarithmic ? powers(Math.min(...xs), Math.max(...xs)) : ticks(Math.min(...xs), Math.max(...xs));
  const low = scale(Math.min(...xs, ...(logarithmic ? marks : []))), high = scale(Math.max(...xs, ...(logarithmic ? marks : [])));
  const x = (value: number) => LEFT + ((scale(value) - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const systems = [...new Set(every.map((one) => one.system))];
  const style = (system: number) => ({ "--hue": String((systems.indexOf(system) * 360) / Math.max(systems.length, 3) + 200) });
  const saved = () => {
    const copy = drawing.current!.cloneNode(true) as SVGSVGElement;
    const colours = getComputedStyle(drawing.current!);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const from = drawing.current!.querySelectorAll("*"), to = copy.querySelectorAll("*");
    from.forEach((own, at) => { const seen = getComputedStyle(own); for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font"]) (to[at] as SVGElement).style.setProperty(name, seen.getPropertyValue(name)); });
    copy.style.color = colours.color;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([copy.outerHTML], { type: "image/svg+xml" }));
    link.download = `${chart.title.replace(/[^\w-]+/g, "-")}.svg`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <figure>
      <figcaption><b>{chart.title}</b> <span class="quiet">{chart.says}</span></figcaption>
      <svg ref={drawing} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${chart.title}: ${systems.map(titleOf).join(", ")}`}>
        {[0, 0.2, 0.4, 0.6, 0.8, 1].map((at) => <g key={at}><line class="rule" x1={LEFT} x2={WIDTH - RIGHT} y1={y(at)} y2={y(at)} /><text x={LEFT - 6} y={y(at) + 4} text-anchor="end">{100 * at}</text></g>)}
        {marks.map((at) => <text key={at} x={x(at)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">{logarithmic && at < 1 ? at : at.toLocaleString("en")}</text>)}
        <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">{chart.x}</text>
        {chart.lines.map((one) => <polyline key={one.system} class="line" style={style(one.system)} stroke-dasharray={DASHES[systems.indexOf(one.system) % DASHES.length]} points={one.x.map((value, at) => `${x(value).toFixed(1)},${y(one.y[at]).toFixed(1)}`).join(" ")} />)}
        {chart.marked.map((one) => one.x.map((value, at) => <g key={`${one.system}:${at}`} style={style(one.system)}><circle class="point" cx={x(value)} cy={y(one.y[at])} r="4" />{!chart.lines.length && <text x={x(value) + (x(value) > WIDTH - 140 ? -8 : 8)} y={y(one.y[at]) + 4} text-anchor={x(value) > WIDTH - 140 ? "end" : "start"}>{titleOf(one.system)}</text>}</g>))}
      </svg>
      {chart.lines.length > 0 && <ul class="legend">{systems.map((system) => <li key={system} style={style(system)}><svg viewBox="0 0 28 8" aria-hidden="true"><line class="line" x1="0" x2="28" y1="4" y2="4" stroke-dasharray={DASHES[systems.indexOf(system) % DASHES.length]} /></svg>{titleOf(system)}</li>)}</ul>}
      <p class="copy quiet">Save as <button type="button" onClick={saved}>SVG</button></p>
    </figure>
  );
}

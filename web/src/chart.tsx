// Charts, drawn as SVG by the page itself: no library, no evaluated expressions, and they print.
import { useRef, useState } from "preact/hooks";
import type { CurveLine, DrawnChart } from "./shape";
import { hiddenSystems, titleOf } from "./parts";
import { saveDrawing, standing } from "./picture";

const WIDTH = 560, HEIGHT = 330, LEFT = 46, TOP = 14, RIGHT = 16;
const DASHES = ["", "6 3", "2 2", "8 3 2 3", "1 3", "10 4", "4 4 1 4"];
const MARKS = ["●", "■", "▲", "◆", "✚", "▼", "★"];

function ticksOf(low: number, high: number): number[] {
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

/** Colour and dash of a system, the same in every chart of a page. */
export const hue = (place: number, of: number) => ({ "--hue": String(Math.round((place * 360) / Math.max(of, 3) + 200)) });

export function Chart({ chart }: { chart: DrawnChart }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [done, set] = useState("");
  const gone = hiddenSystems();
  const seen = (own: readonly CurveLine[]) => own.filter((one) => !gone.has(one.system) && one.x.length);
  const lines = seen(chart.lines), marked = seen(chart.marked), every = [...lines, ...marked];
  if (!every.length) return null;
  const named = chart.ticks.length > 0, slanted = chart.ticks.join("").length > 44;
  const bottom = named && slanted ? 92 : 40;
  const xs = every.flatMap((one) => one.x);
  const scale = chart.log ? Math.log10 : (value: number) => value;
  const [least, most] = named ? [-0.5, chart.ticks.length - 0.5] : chart.diagonal ? [0, 1] : [Math.min(...xs), Math.max(...xs)];
  const marks = named ? chart.ticks.map((_, at) => at) : chart.log ? powers(least, most) : ticksOf(least, most);
  const low = scale(chart.log ? marks[0] : least), high = scale(chart.log ? marks.at(-1)! : most);
  const x = (value: number) => LEFT + ((scale(value) - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => TOP + (1 - value) * (HEIGHT - TOP - bottom);
  const systems = [...new Set(every.map((one) => one.system))].sort((a, b) => a - b);
  const place = (system: number) => systems.indexOf(system);
  const style = (system: number) => hue(place(system), systems.length);
  const dash = (system: number) => DASHES[place(system) % DASHES.length];
  const points = (one: CurveLine) => one.x.map((value, at) => `${at && chart.form === "step" ? `${x(value).toFixed(1)},${y(one.y[at - 1]).toFixed(1)} ` : ""}${x(value).toFixed(1)},${y(one.y[at]).toFixed(1)}`).join(" ");
  const band = ((x(1) - x(0)) * 0.8) / Math.max(1, lines.length);
  const save = (kind: "SVG" | "PNG") => saveDrawing(standing(drawing.current!), chart.title, kind).then(() => set(`${kind} saved`), (problem: Error) => set(problem.message));
  return (
    <figure>
      <figcaption><b>{chart.title}</b> <span class="quiet">{chart.says}</span></figcaption>
      <svg ref={drawing} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${chart.title}: ${systems.map(titleOf).join(", ")}`}>
        {[0, 0.2, 0.4, 0.6, 0.8, 1].map((at) => <g key={at}><line class="rule" x1={LEFT} x2={WIDTH - RIGHT} y1={y(at)} y2={y(at)} /><text x={LEFT - 6} y={y(at) + 4} text-anchor="end">{Math.round(100 * at)}</text></g>)}
        {marks.map((at) => <text key={at} x={x(at)} y={HEIGHT - bottom + 16} text-anchor={named && slanted ? "end" : "middle"} transform={named && slanted ? `rotate(-32 ${x(at)} ${HEIGHT - bottom + 12})` : undefined}>{named ? short(chart.ticks[at]) : chart.log && at < 1 ? at : at.toLocaleString("en")}</text>)}
        {!(named && slanted) && <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">{chart.x}</text>}
        {chart.diagonal && <line class="rule" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} stroke-dasharray="3 3" />}
        {chart.form === "bars"
          ? lines.map((one, own) => <g key={one.system} style={style(one.system)}>{one.x.map((value, at) => <rect key={at} class="point" x={x(value) - 0.5 * band * lines.length + own * band} width={Math.max(1, band - 1)} y={y(one.y[at])} height={Math.max(0, y(0) - y(one.y[at]))}><title>{`${titleOf(one.system)}: ${(100 * one.y[at]).toFixed(1)}`}</title></rect>)}</g>)
          : lines.map((one) => (
            <g key={one.system} style={style(one.system)}>
              {(chart.form !== "points") && <polyline class="line" stroke-dasharray={dash(one.system)} points={points(one)} />}
              {(named || chart.form === "points") && one.x.map((value, at) => <text key={at} class="point mark" x={x(value)} y={y(one.y[at]) + 4} text-anchor="middle">{MARKS[place(one.system) % MARKS.length]}<title>{`${titleOf(one.system)}, ${named ? chart.ticks[value] : value}: ${(100 * one.y[at]).toFixed(1)}`}</title></text>)}
            </g>
          ))}
        <Labelled marked={marked} x={x} y={y} style={style} named={!lines.length} />
      </svg>
      {lines.length > 0 && <ul class="legend">{systems.map((system) => <li key={system} style={style(system)}>{chart.form === "bars" ? <span class="swatch" /> : named || chart.form === "points" ? <span class="mark" aria-hidden="true">{MARKS[place(system) % MARKS.length]}</span> : <svg viewBox="0 0 28 8" aria-hidden="true"><line class="line" x1="0" x2="28" y1="4" y2="4" stroke-dasharray={dash(system)} /></svg>}{titleOf(system)}</li>)}</ul>}
      <p class="copy quiet">Save as <button type="button" onClick={() => save("SVG")}>SVG</button>, <button type="button" onClick={() => save("PNG")}>PNG</button><span role="status">{done && ` · ${done}`}</span></p>
    </figure>
  );
}

const short = (text: string): string => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

/** Points with their names beside them; a name that would cover another one moves down. */
function Labelled({ marked, x, y, style, named }: { marked: readonly CurveLine[]; x: (value: number) => number; y: (value: number) => number; style: (system: number) => Record<string, string>; named: boolean }) {
  const taken: [number, number, number][] = [];
  const spots = marked.flatMap((one) => one.x.map((value, at) => ({ system: one.system, x: x(value), y: y(one.y[at]) }))).sort((a, b) => a.y - b.y);
  return (
    <>
      {spots.map((spot, at) => {
        const long = titleOf(spot.system).length * 6.6, left = spot.x > WIDTH - long - 24;
        const from = left ? spot.x - 8 - long : spot.x + 8;
        let down = spot.y + 4;
        while (taken.some(([low, high, own]) => from < high && low < from + long && Math.abs(own - down) < 13)) down += 3;
        if (named) taken.push([from, from + long, down]);
        return <g key={at} style={style(spot.system)}><circle class="point" cx={spot.x} cy={spot.y} r="4" />{named && <text x={left ? spot.x - 8 : spot.x + 8} y={down} text-anchor={left ? "end" : "start"}>{titleOf(spot.system)}</text>}</g>;
      })}
    </>
  );
}

// SVG charts, drawn without a library.
import { useRef, useState } from "preact/hooks";
import { formatPercent, getHiddenSystems, systemTitle } from "./components";
import { saveDrawing, serialiseDrawing } from "./drawing";
import type { ChartData, CurveLine } from "./shape";

const WIDTH = 560,
  HEIGHT = 330,
  MARGIN_LEFT = 46,
  MARGIN_TOP = 14,
  MARGIN_RIGHT = 16;
const DASHES = ["", "6 3", "2 2", "8 3 2 3", "1 3", "10 4", "4 4 1 4"];
const MARKS = ["●", "■", "▲", "◆", "✚", "▼", "★"];

function linearTicks(low: number, high: number): number[] {
  const roughStep = (high - low) / 5 || 1,
    magnitude = 10 ** Math.floor(Math.log10(roughStep));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((factor) => factor >= roughStep)!;
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step)
    ticks.push(Number(tick.toPrecision(6)));
  return ticks;
}

function logTicks(low: number, high: number): number[] {
  const ticks = [];
  for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent++)
    ticks.push(10 ** exponent);
  return ticks;
}

/** Compute the colour of a system, the same in all charts of a page. */
export const hueStyle = (index: number, count: number) => ({
  "--hue": String(Math.round((index * 360) / Math.max(count, 3) + 200)),
});

/** Name the visible systems without a line, with the reasons. */
function describeUndrawn(chart: ChartData): string[] {
  const hiddenSet = getHiddenSystems(),
    systemsByReason = new Map<string, string[]>();
  for (const [system, reason] of chart.undrawn)
    if (!hiddenSet.has(system))
      systemsByReason.set(reason, [...(systemsByReason.get(reason) ?? []), systemTitle(system)]);
  return [...systemsByReason].map(
    ([reason, systems]) => `Not drawn: ${systems.join(", ")} (${reason.replace(/\.$/, "")}).`,
  );
}

export function Chart({ chart }: { chart: ChartData }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [status, setStatus] = useState("");
  const hiddenSet = getHiddenSystems();
  const filterVisible = (lines: readonly CurveLine[]) =>
    lines.filter((line) => !hiddenSet.has(line.system) && line.x.length);
  const lines = filterVisible(chart.lines),
    highlights = filterVisible(chart.markers),
    allLines = [...lines, ...highlights];
  if (!allLines.length) return null;
  const hasNames = chart.ticks.length > 0,
    isSlanted = chart.ticks.join("").length > 44;
  const bottom = hasNames && isSlanted ? 92 : 40;
  const xs = allLines.flatMap((line) => line.x);
  const scale = chart.log ? Math.log10 : (value: number) => value;
  const [minX, maxX] = hasNames
    ? [-0.5, chart.ticks.length - 0.5]
    : chart.diagonal
      ? [0, 1]
      : [Math.min(...xs), Math.max(...xs)];
  const ticks = hasNames
    ? chart.ticks.map((_, index) => index)
    : chart.log
      ? logTicks(minX, maxX)
      : linearTicks(minX, maxX);
  const low = scale(chart.log ? ticks[0] : minX),
    high = scale(chart.log ? ticks.at(-1)! : maxX);
  const x = (value: number) =>
    MARGIN_LEFT + ((scale(value) - low) / (high - low || 1)) * (WIDTH - MARGIN_LEFT - MARGIN_RIGHT);
  const y = (value: number) => MARGIN_TOP + (1 - value) * (HEIGHT - MARGIN_TOP - bottom);
  const systems = [...new Set(allLines.map((line) => line.system))].sort((a, b) => a - b);
  const systemIndex = (system: number) => systems.indexOf(system);
  const systemStyle = (system: number) => hueStyle(systemIndex(system), systems.length);
  const systemDash = (system: number) => DASHES[systemIndex(system) % DASHES.length];
  const formatPoints = (line: CurveLine) =>
    line.x
      .flatMap((value, index) => {
        const point = `${x(value).toFixed(1)},${y(line.y[index]).toFixed(1)}`;
        return index && chart.form === "step"
          ? [`${x(value).toFixed(1)},${y(line.y[index - 1]).toFixed(1)}`, point]
          : [point];
      })
      .join(" ");
  const barWidth = ((x(1) - x(0)) * 0.8) / Math.max(1, lines.length);
  const saveChart = (kind: "SVG" | "PNG") =>
    saveDrawing(serialiseDrawing(drawing.current!), chart.title, kind).then(
      () => setStatus(`${kind} saved`),
      (error: Error) => setStatus(error.message),
    );
  return (
    <figure>
      <figcaption>
        <b>{chart.title}</b> <span class="quiet">{[chart.description, ...describeUndrawn(chart)].join(" ")}</span>
      </figcaption>
      <svg
        ref={drawing}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${chart.title}: ${systems.map(systemTitle).join(", ")}`}
      >
        {[0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => (
          <g key={tick}>
            <line class="rule" x1={MARGIN_LEFT} x2={WIDTH - MARGIN_RIGHT} y1={y(tick)} y2={y(tick)} />
            <text x={MARGIN_LEFT - 6} y={y(tick) + 4} text-anchor="end">
              {Math.round(100 * tick)}
            </text>
          </g>
        ))}
        {ticks.map((tick) => (
          <text
            key={tick}
            x={x(tick)}
            y={HEIGHT - bottom + 16}
            text-anchor={hasNames && isSlanted ? "end" : "middle"}
            transform={hasNames && isSlanted ? `rotate(-32 ${x(tick)} ${HEIGHT - bottom + 12})` : undefined}
          >
            {hasNames ? shortenText(chart.ticks[tick]) : chart.log && tick < 1 ? tick : tick.toLocaleString("en")}
          </text>
        ))}
        {!(hasNames && isSlanted) && (
          <text x={(MARGIN_LEFT + WIDTH - MARGIN_RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">
            {chart.x}
          </text>
        )}
        {chart.diagonal && <line class="rule" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} stroke-dasharray="3 3" />}
        {chart.form === "bars"
          ? lines.map((line, lineIndex) => (
              <g key={line.system} style={systemStyle(line.system)}>
                {line.x.map((value, index) => (
                  <rect
                    key={index}
                    class="point"
                    x={x(value) - 0.5 * barWidth * lines.length + lineIndex * barWidth}
                    width={Math.max(1, barWidth - 1)}
                    y={y(line.y[index])}
                    height={Math.max(0, y(0) - y(line.y[index]))}
                  >
                    <title>{`${systemTitle(line.system)}: ${formatPercent(line.y[index])}`}</title>
                  </rect>
                ))}
              </g>
            ))
          : lines.map((line) => (
              <g key={line.system} style={systemStyle(line.system)}>
                {chart.form !== "points" && (
                  <polyline class="line" stroke-dasharray={systemDash(line.system)} points={formatPoints(line)} />
                )}
                {(hasNames || chart.form === "points") &&
                  line.x.map((value, index) => (
                    <text key={index} class="point mark" x={x(value)} y={y(line.y[index]) + 4} text-anchor="middle">
                      {MARKS[systemIndex(line.system) % MARKS.length]}
                      <title>
                        {[
                          `${systemTitle(line.system)}, ${hasNames ? chart.ticks[value] : value}:`,
                          formatPercent(line.y[index]),
                        ].join(" ")}
                      </title>
                    </text>
                  ))}
              </g>
            ))}
        <PointLabels highlights={highlights} x={x} y={y} systemStyle={systemStyle} hasNames={!lines.length} />
      </svg>
      {lines.length > 0 && (
        <ul class="legend">
          {systems.map((system) => (
            <li key={system} style={systemStyle(system)}>
              {chart.form === "bars" ? (
                <span class="swatch" />
              ) : hasNames || chart.form === "points" ? (
                <span class="mark" aria-hidden="true">
                  {MARKS[systemIndex(system) % MARKS.length]}
                </span>
              ) : (
                <svg viewBox="0 0 28 8" aria-hidden="true">
                  <line class="line" x1="0" x2="28" y1="4" y2="4" stroke-dasharray={systemDash(system)} />
                </svg>
              )}
              {systemTitle(system)}
            </li>
          ))}
        </ul>
      )}
      <p class="copy quiet">
        Save as{" "}
        <button type="button" onClick={() => saveChart("SVG")}>
          SVG
        </button>
        ,{" "}
        <button type="button" onClick={() => saveChart("PNG")}>
          PNG
        </button>
        <span role="status">{status && ` · ${status}`}</span>
      </p>
    </figure>
  );
}

const shortenText = (text: string): string => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

/** Labelled points; a label that would overlap another moves down. */
function PointLabels({
  highlights,
  x,
  y,
  systemStyle,
  hasNames,
}: {
  highlights: readonly CurveLine[];
  x: (value: number) => number;
  y: (value: number) => number;
  systemStyle: (system: number) => Record<string, string>;
  hasNames: boolean;
}) {
  const areas: [number, number, number][] = [];
  const points = highlights
    .flatMap((line) => line.x.map((value, index) => ({ system: line.system, x: x(value), y: y(line.y[index]) })))
    .sort((a, b) => a.y - b.y);
  return (
    <>
      {points.map((point, index) => {
        const width = systemTitle(point.system).length * 6.6,
          isLeft = point.x > WIDTH - width - 24;
        const start = isLeft ? point.x - 8 - width : point.x + 8;
        let labelY = point.y + 4;
        while (areas.some(([low, high, areaY]) => start < high && low < start + width && Math.abs(areaY - labelY) < 13))
          labelY += 3;
        if (hasNames) areas.push([start, start + width, labelY]);
        return (
          <g key={index} style={systemStyle(point.system)}>
            <circle class="point" cx={point.x} cy={point.y} r="4" />
            {hasNames && (
              <text x={isLeft ? point.x - 8 : point.x + 8} y={labelY} text-anchor={isLeft ? "end" : "start"}>
                {systemTitle(point.system)}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

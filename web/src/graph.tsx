// A graph of words, from the top down.
import { useRef } from "preact/hooks";
import { saveDrawing, standing } from "./picture";

interface Node {
  title: string;
  lines: string[];
}

const [BOX, GAP, DOWN] = [196, 22, 46];
const LETTERS = 30; // of a line

/** Words in lines that fit a box; what is too much ends in dots. */
function folded(text: string, most = 3): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length >= LETTERS) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${word}`;
  }
  return lines.length > most ? [...lines.slice(0, most - 1), `${lines[most - 1].slice(0, LETTERS - 2)} …`] : lines;
}

export function Graph({ name, nodes, edges }: { name: string; nodes: readonly Node[]; edges: readonly (readonly [number, number])[] }) {
  const drawing = useRef<SVGSVGElement>(null);
  // Every node stands below all that lead to it.
  const depth = nodes.map(() => 0);
  for (let round = 0; round < nodes.length; round++) for (const [from, to] of edges) if (depth[to] <= depth[from]) depth[to] = depth[from] + 1;
  const layers: number[][] = [];
  nodes.forEach((_, at) => (layers[Math.min(depth[at], nodes.length)] ??= []).push(at));
  const rows = layers.filter(Boolean);
  const place = new Map<number, number>();
  rows.forEach((row) => {
    const wish = (at: number) => { const from = edges.filter(([, to]) => to === at).map(([own]) => place.get(own) ?? 0); return from.length ? from.reduce((sum, one) => sum + one, 0) / from.length : 0; };
    row.sort((a, b) => wish(a) - wish(b));
    row.forEach((at, own) => place.set(at, own - (row.length - 1) / 2));
  });
  const said = nodes.map((node) => node.lines.flatMap((line) => folded(line)));
  const tall = (at: number) => 28 + 15 * said[at].length;
  const most = Math.max(...rows.map((row) => row.length));
  const width = most * (BOX + GAP) + GAP;
  const tops: number[] = [];
  rows.reduce((top, row, at) => ((tops[at] = top), top + Math.max(...row.map(tall)) + DOWN), 8);
  const height = tops.at(-1)! + Math.max(...rows.at(-1)!.map(tall)) + 8;
  const layer = new Map(rows.flatMap((row, at) => row.map((own) => [own, at] as const)));
  const x = (at: number) => width / 2 + place.get(at)! * (BOX + GAP), y = (at: number) => tops[layer.get(at)!];
  // An edge goes down between the boxes of the layers that it passes.
  const path = (from: number, to: number) => {
    const last = layer.get(to)!, bend = (x1: number, y1: number, x2: number, y2: number) => `C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
    let [left, top] = [x(from), y(from) + tall(from)], made = `M${left} ${top}`;
    for (let at = layer.get(from)! + 1; at < last; at++) {
      const wish = left + (x(to) - left) / (last - at + 1), gaps = rows[at].flatMap((own) => [-1, 1].map((side) => x(own) + (side * (BOX + GAP)) / 2));
      const gap = gaps.reduce((best, one) => (Math.abs(one - wish) < Math.abs(best - wish) ? one : best)), low = tops[at] + Math.max(...rows[at].map(tall));
      made += `${bend(left, top, gap, tops[at])}V${low}`;
      [left, top] = [gap, low];
    }
    return made + bend(left, top, x(to), y(to) - 2);
  };
  return (
    <figure class="graph">
      <div class="frame" tabIndex={0} role="region" aria-label={name}>
        <svg ref={drawing} viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={`${name}: ${edges.map(([from, to]) => `${nodes[from].title} to ${nodes[to].title}`).join(", ")}`}>
          <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" class="tip" /></marker></defs>
          {edges.map(([from, to]) => <path key={`${from} ${to}`} class="edge" d={path(from, to)} marker-end="url(#tip)" />)}
          {nodes.map((node, at) => (
            <g key={at}>
              <rect class="box" x={x(at) - BOX / 2} y={y(at)} width={BOX} height={tall(at)} />
              <text class="head" x={x(at)} y={y(at) + 19} text-anchor="middle">{node.title.length > LETTERS ? `${node.title.slice(0, LETTERS - 1)}…` : node.title}</text>
              {said[at].map((line, own) => <text key={own} x={x(at)} y={y(at) + 36 + 15 * own} text-anchor="middle">{line}</text>)}
            </g>
          ))}
        </svg>
      </div>
      <p class="copy quiet">Save as <button type="button" onClick={() => void saveDrawing(standing(drawing.current!), name, "SVG")}>SVG</button>, <button type="button" onClick={() => void saveDrawing(standing(drawing.current!), name, "PNG")}>PNG</button></p>
    </figure>
  );
}

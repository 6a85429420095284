// A layered graph of labelled boxes.
import { useRef } from "preact/hooks";
import { saveDrawing, serialiseDrawing } from "./drawing";

interface Node {
  title: string;
  lines: string[];
}

const [BOX, GAP, LAYER_GAP] = [196, 22, 46];
const LINE_LENGTH = 30; // characters

/** Wrap a text into lines that fit a box, and truncate it. */
function wrapText(text: string, maxLines = 3): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length >= LINE_LENGTH) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${word}`;
  }
  return lines.length > maxLines
    ? [...lines.slice(0, maxLines - 1), `${lines[maxLines - 1].slice(0, LINE_LENGTH - 2)} …`]
    : lines;
}

export function Graph({
  name,
  nodes,
  edges,
}: {
  name: string;
  nodes: readonly Node[];
  edges: readonly (readonly [number, number])[];
}) {
  const drawing = useRef<SVGSVGElement>(null);
  // Place every node below its predecessors.
  const depth = nodes.map(() => 0);
  for (let round = 0; round < nodes.length; round++)
    for (const [source, target] of edges) if (depth[target] <= depth[source]) depth[target] = depth[source] + 1;
  const layers: number[][] = [];
  for (const node of nodes.keys()) {
    const layer = Math.min(depth[node], nodes.length);
    layers[layer] ??= [];
    layers[layer].push(node);
  }
  const rows = layers.filter(Boolean);
  const position = new Map<number, number>();
  rows.forEach((row) => {
    const preferredPosition = (node: number) => {
      const positions = edges.filter(([, target]) => target === node).map(([source]) => position.get(source) ?? 0);
      return positions.length ? positions.reduce((sum, value) => sum + value, 0) / positions.length : 0;
    };
    row.sort((a, b) => preferredPosition(a) - preferredPosition(b));
    for (const [index, node] of row.entries()) position.set(node, index - (row.length - 1) / 2);
  });
  const labels = nodes.map((node) => node.lines.flatMap((line) => wrapText(line)));
  const boxHeight = (node: number) => 28 + 15 * labels[node].length;
  const maxColumns = Math.max(...rows.map((row) => row.length));
  const width = maxColumns * (BOX + GAP) + GAP;
  const tops: number[] = [];
  for (const layer of rows.keys())
    tops[layer] = layer ? tops[layer - 1] + Math.max(...rows[layer - 1].map(boxHeight)) + LAYER_GAP : 8;
  const height = tops.at(-1)! + Math.max(...rows.at(-1)!.map(boxHeight)) + 8;
  const layerOfNode = new Map(rows.flatMap((row, index) => row.map((node) => [node, index] as const)));
  const x = (node: number) => width / 2 + position.get(node)! * (BOX + GAP),
    y = (node: number) => tops[layerOfNode.get(node)!];
  // Route an edge between the boxes of the layers that it crosses.
  const edgePath = (source: number, target: number) => {
    const lastLayer = layerOfNode.get(target)!,
      curveTo = (x1: number, y1: number, x2: number, y2: number) =>
        `C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
    let [startX, startY] = [x(source), y(source) + boxHeight(source)],
      commands = `M${startX} ${startY}`;
    for (let layer = layerOfNode.get(source)! + 1; layer < lastLayer; layer++) {
      const idealX = startX + (x(target) - startX) / (lastLayer - layer + 1),
        gaps = rows[layer].flatMap((node) => [-1, 1].map((side) => x(node) + (side * (BOX + GAP)) / 2));
      const gap = gaps.reduce((bestX, gapX) => (Math.abs(gapX - idealX) < Math.abs(bestX - idealX) ? gapX : bestX)),
        bottom = tops[layer] + Math.max(...rows[layer].map(boxHeight));
      commands += `${curveTo(startX, startY, gap, tops[layer])}V${bottom}`;
      [startX, startY] = [gap, bottom];
    }
    return commands + curveTo(startX, startY, x(target), y(target) - 2);
  };
  const edgeTitles = edges.map(([source, target]) => `${nodes[source].title} to ${nodes[target].title}`);
  return (
    <figure class="graph">
      <div class="frame" tabIndex={0} role="region" aria-label={name}>
        <svg
          ref={drawing}
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label={`${name}: ${edgeTitles.join(", ")}`}
        >
          <defs>
            <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" class="tip" />
            </marker>
          </defs>
          {edges.map(([source, target]) => (
            <path key={`${source} ${target}`} class="edge" d={edgePath(source, target)} marker-end="url(#tip)" />
          ))}
          {nodes.map((node, index) => (
            <g key={index}>
              <rect class="box" x={x(index) - BOX / 2} y={y(index)} width={BOX} height={boxHeight(index)} />
              <text class="head" x={x(index)} y={y(index) + 19} text-anchor="middle">
                {node.title.length > LINE_LENGTH ? `${node.title.slice(0, LINE_LENGTH - 1)}…` : node.title}
              </text>
              {labels[index].map((line, lineIndex) => (
                <text key={lineIndex} x={x(index)} y={y(index) + 36 + 15 * lineIndex} text-anchor="middle">
                  {line}
                </text>
              ))}
            </g>
          ))}
        </svg>
      </div>
      <p class="copy quiet">
        Save as{" "}
        <button type="button" onClick={() => void saveDrawing(serialiseDrawing(drawing.current!), name, "SVG")}>
          SVG
        </button>
        ,{" "}
        <button type="button" onClick={() => void saveDrawing(serialiseDrawing(drawing.current!), name, "PNG")}>
          PNG
        </button>
      </p>
    </figure>
  );
}

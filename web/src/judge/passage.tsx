// The passage with its links: the one that is judged stands out, the others say what became of them.
import { Stretch } from "../text";
import type { Link, Task } from "./api";

/** What a decision is called once it is made; the letter repeats it where there is little room. */
export const OUTCOMES: Readonly<Record<string, readonly [string, string]>> = {
  verify: ["verified", "✓"],
  modify: ["modified", "→"],
  remove: ["removed", "✕"],
  choose: ["answered", "✓"],
};

interface Part {
  start: number;
  end: number;
  links: number[];
}

/** The text cut at all borders of links, each part with the links that cover it. */
function parts(task: Task, length: number): Part[] {
  const spans = [...task.links, ...task.added];
  const borders = [...new Set([0, length, ...spans.flatMap((link) => [link.start, link.end])])].sort((a, b) => a - b);
  return borders.slice(1).map((end, place) => {
    const start = borders[place];
    const links = spans.map((link, at) => (link.start <= start && end <= link.end ? at : -1)).filter((at) => at >= 0);
    return { start, end, links };
  });
}

const size = (link: Link): number => link.end - link.start;

export function Passage({ task, at, onChosen }: { task: Task; at: number; onChosen: (link: number) => void }) {
  const stretch = new Stretch(0, task.text);
  return (
    <p class="document passage" dir="auto" id="passage">
      {parts(task, stretch.length).map(({ start, end, links }) => {
        const text = stretch.slice(start, end);
        if (!links.length) return <span key={start}>{text}</span>;
        if (links.includes(at)) return <mark key={start} class="now">{text}</mark>;
        const own = links.filter((place) => place < task.links.length).sort((a, b) => size(task.links[a]) - size(task.links[b]))[0];
        if (own === undefined) return <span key={start} class="added">{text}</span>;
        return <span key={start} class={`beside ${task.links[own].decided?.decision ?? "open"}`} onClick={() => onChosen(own)}>{text}</span>;
      })}
    </p>
  );
}

/** All links of the passage, to go to any of them. */
export function Places({ task, at, onChosen }: { task: Task; at: number; onChosen: (link: number) => void }) {
  return (
    <ol class="places" aria-label="Links of this passage">
      {task.links.map((link, place) => {
        const outcome = OUTCOMES[link.decided?.decision ?? ""];
        return (
          <li key={place}>
            <button type="button" aria-current={place === at ? "true" : undefined} onClick={() => onChosen(place)}>
              <span aria-hidden="true">{outcome?.[1] ?? "○"}</span> <span dir="auto">{link.surface}</span>
              <span class="unseen"> ({outcome?.[0] ?? "open"})</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

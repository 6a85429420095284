// The passage with its links and their decisions.
import { Stretch } from "../text";
import type { Link, Task } from "./api";

/** Title and symbol of each decision. */
export const OUTCOMES: Readonly<Record<string, readonly [string, string]>> = {
  verify: ["verified", "✓"],
  modify: ["modified", "→"],
  remove: ["removed", "✕"],
  choose: ["answered", "✓"],
};

interface TextPart {
  start: number;
  end: number;
  links: number[];
}

/** Split the text at link borders; each part lists the links that cover it. */
function splitText(task: Task, length: number): TextPart[] {
  const spans = [...task.links, ...task.added_links];
  const borders = [...new Set([0, length, ...spans.flatMap((link) => [link.start, link.end])])].sort((a, b) => a - b);
  return borders.slice(1).map((end, index) => {
    const start = borders[index];
    const links = spans
      .map((link, linkIndex) => (link.start <= start && end <= link.end ? linkIndex : -1))
      .filter((linkIndex) => linkIndex >= 0);
    return { start, end, links };
  });
}

const linkLength = (link: Link): number => link.end - link.start;

export function Passage({
  task,
  linkIndex,
  onSelect,
}: {
  task: Task;
  linkIndex: number;
  onSelect: (link: number) => void;
}) {
  const stretch = new Stretch(0, task.text);
  return (
    <p class="document passage" dir="auto" id="passage">
      {splitText(task, stretch.length).map(({ start, end, links }) => {
        const text = stretch.slice(start, end);
        if (!links.length) return <span key={start}>{text}</span>;
        if (links.includes(linkIndex))
          return (
            <mark key={start} class="now">
              {text}
            </mark>
          );
        const shortestLink = links
          .filter((index) => index < task.links.length)
          .sort((a, b) => linkLength(task.links[a]) - linkLength(task.links[b]))[0];
        if (shortestLink === undefined)
          return (
            <span key={start} class="added">
              {text}
            </span>
          );
        return (
          <span
            key={start}
            class={`other ${task.links[shortestLink].decision?.decision ?? "open"}`}
            onClick={() => onSelect(shortestLink)}
          >
            {text}
          </span>
        );
      })}
    </p>
  );
}

/** A list of the links of the passage. */
export function LinkList({
  task,
  linkIndex,
  onSelect,
}: {
  task: Task;
  linkIndex: number;
  onSelect: (link: number) => void;
}) {
  return (
    <ol class="places" aria-label="Links of this passage">
      {task.links.map((link, index) => {
        const outcome = OUTCOMES[link.decision?.decision ?? ""];
        return (
          <li key={index}>
            <button
              type="button"
              aria-current={index === linkIndex ? "true" : undefined}
              onClick={() => onSelect(index)}
            >
              <span aria-hidden="true">{outcome?.[1] ?? "○"}</span> <span dir="auto">{link.surface}</span>
              <span class="unseen"> ({outcome?.[0] ?? "open"})</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

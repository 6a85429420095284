// What the pages of judges are made of.
import type { ComponentChildren } from "preact";
import type { Entity } from "./api";

/** Text as people write it into a file: paragraphs between empty lines, and items that begin with a dash. */
export function Prose({ text }: { text: string }) {
  const plain = (lines: string) => lines.trim().replace(/\s+/g, " ");
  return (
    <>
      {text.trim().split(/\n\s*\n/).map((block, place) =>
        block.startsWith("- ") ? <ul key={place}>{block.slice(2).split(/\n- /).map((item, at) => <li key={at}>{plain(item)}</li>)}</ul> : <p key={place}>{plain(block)}</p>,
      )}
    </>
  );
}

export const nameOf = (entity: Entity): string => entity.name ?? entity.id;

/** An entity with all that says which one it is. */
export function About({ entity, children }: { entity: Entity; children?: ComponentChildren }) {
  return (
    <>
      {children}
      <p class="description" dir="auto">{entity.description ?? <span class="quiet">No description.</span>}</p>
      <p class="quiet types">
        {entity.types.length > 0 && <span dir="auto">{entity.types.join(", ")} · </span>}
        {entity.link ? <a href={entity.link} target="_blank" rel="noopener noreferrer">{entity.id}</a> : entity.id}
      </p>
    </>
  );
}

/** A button with its key. */
export function Key({ of, children, onClick, kind, pressed, disabled }: { of: string; children: ComponentChildren; onClick: () => void; kind?: string; pressed?: boolean; disabled?: boolean }) {
  return (
    <button type="button" class={kind} onClick={onClick} aria-pressed={pressed} aria-keyshortcuts={of} disabled={disabled}>
      {children} <kbd aria-hidden="true">{of}</kbd>
    </button>
  );
}

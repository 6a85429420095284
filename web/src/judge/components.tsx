// Components that the judging pages share.
import type { ComponentChildren } from "preact";
import type { Entity } from "./api";

/** Plain text with paragraphs and dashed lists. */
export function Prose({ text }: { text: string }) {
  const joinLines = (lines: string) => lines.trim().replace(/\s+/g, " ");
  return (
    <>
      {text
        .trim()
        .split(/\n\s*\n/)
        .map((block, index) =>
          block.startsWith("- ") ? (
            <ul key={index}>
              {block
                .slice(2)
                .split(/\n- /)
                .map((item, itemIndex) => (
                  <li key={itemIndex}>{joinLines(item)}</li>
                ))}
            </ul>
          ) : (
            <p key={index}>{joinLines(block)}</p>
          ),
        )}
    </>
  );
}

export const entityName = (entity: Entity): string => entity.name ?? entity.id;

/** Description, types and id of an entity. */
export function EntityDescription({ entity, children }: { entity: Entity; children?: ComponentChildren }) {
  return (
    <>
      {children}
      <p class="description" dir="auto">
        {entity.description ?? <span class="quiet">No description.</span>}
      </p>
      <p class="quiet types">
        {entity.types.length > 0 && <span dir="auto">{entity.types.join(", ")} · </span>}
        {entity.link ? (
          <a href={entity.link} target="_blank" rel="noopener noreferrer">
            {entity.id}
          </a>
        ) : (
          entity.id
        )}
      </p>
    </>
  );
}

/** A button with a keyboard shortcut. */
export function KeyButton({
  shortcut,
  children,
  onClick,
  className,
  isPressed,
  isDisabled,
}: {
  shortcut: string;
  children: ComponentChildren;
  onClick: () => void;
  className?: string;
  isPressed?: boolean;
  isDisabled?: boolean;
}) {
  return (
    <button
      type="button"
      class={className}
      onClick={onClick}
      aria-pressed={isPressed}
      aria-keyshortcuts={shortcut}
      disabled={isDisabled}
    >
      {children} <kbd aria-hidden="true">{shortcut}</kbd>
    </button>
  );
}

// Components that the pages of judges and annotators share.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entity } from "./http";

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

export function FailureNotice({ message, retry }: { message: string; retry: () => void }) {
  return (
    <div class="missing" role="alert">
      <p>{message}</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

/** Guidelines, open on wide screens. */
export function Guidelines({ text }: { text: string }) {
  const [isWide] = useState(matchMedia("(min-width: 901px)").matches);
  return (
    <details open={isWide}>
      <summary>Guidelines</summary>
      <Prose text={text} />
    </details>
  );
}

/** A form that asks for the reason for skipping a task. */
export function SkipForm({
  question,
  reasons,
  onSkip,
  onCancel,
}: {
  question: string;
  reasons: readonly string[];
  onSkip: (reason: string) => void;
  onCancel: () => void;
}) {
  const firstOption = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => firstOption.current?.focus(), []);
  const submitForm = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    onSkip(String(form.get("more")).trim() || String(form.get("reason")));
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || (event.target as HTMLElement).tagName !== "INPUT") return;
    event.preventDefault();
    (event.currentTarget as HTMLFormElement).requestSubmit();
  };
  return (
    <form class="panel-form" onSubmit={submitForm} onKeyDown={handleKey}>
      <fieldset>
        <legend>{question}</legend>
        {reasons.map((reason, index) => (
          <label key={reason}>
            <input
              ref={index ? undefined : firstOption}
              type="radio"
              name="reason"
              value={reason}
              defaultChecked={!index}
            />{" "}
            {reason}
          </label>
        ))}
        <label class="field">
          Other reason <input type="text" name="more" maxLength={1000} />
        </label>
      </fieldset>
      <p>
        <button type="submit" class="main">
          Skip
        </button>{" "}
        <button type="button" onClick={onCancel}>
          Cancel <kbd aria-hidden="true">Esc</kbd>
        </button>
      </p>
    </form>
  );
}

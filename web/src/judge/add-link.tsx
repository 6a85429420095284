// The form that adds a missing link.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { EntitySearch } from "../common/search";
import { Stretch } from "../text";
import type { Entity, Task } from "./api";

const countCodePoints = (text: string): number => [...text].length;

/** Find the offsets of a phrase in a text, in code points. */
function findOffsets(text: string, phrase: string): number[] {
  const offsets: number[] = [];
  for (let index = phrase ? text.indexOf(phrase) : -1; index >= 0; index = text.indexOf(phrase, index + phrase.length))
    offsets.push(countCodePoints(text.slice(0, index)));
  return offsets;
}

export function AddLinkForm({
  task,
  hasSearch,
  onAdd,
  onCancel,
}: {
  task: Task;
  hasSearch: boolean;
  onAdd: (start: number, end: number, entity: Entity) => void;
  onCancel: () => void;
}) {
  const selectedText = String(getSelection() ?? "").trim();
  const [phrase, setPhrase] = useState(task.text.includes(selectedText) ? selectedText : "");
  const [choice, setChoice] = useState(0);
  const [isConfirmed, setConfirmed] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []); // before the next keystroke
  const offsets = findOffsets(task.text, phrase);
  const start = offsets[Math.min(choice, offsets.length - 1)];
  if (isConfirmed)
    return (
      <EntitySearch
        initialText={phrase}
        hasSearch={hasSearch}
        label={`Which entity does “${phrase}” refer to?`}
        onSelect={(entity) => onAdd(start, start + countCodePoints(phrase), entity)}
        onCancel={onCancel}
      />
    );
  const stretch = new Stretch(0, task.text);
  const contextText = (offset: number) =>
    `…${stretch.slice(Math.max(0, offset - 20), offset + countCodePoints(phrase) + 20)}…`;
  return (
    <form
      class="panel-form"
      onSubmit={(event) => {
        event.preventDefault();
        offsets.length && setConfirmed(true);
      }}
    >
      <label class="field">
        Text to link{" "}
        <input
          ref={field}
          type="text"
          value={phrase}
          dir="auto"
          autocomplete="off"
          onInput={(event) => setPhrase(event.currentTarget.value)}
        />
      </label>
      {offsets.length > 1 && (
        <label class="field">
          Occurrence{" "}
          <select value={choice} onChange={(event) => setChoice(Number(event.currentTarget.value))}>
            {offsets.map((offset, index) => (
              <option key={offset} value={index}>
                {contextText(offset)}
              </option>
            ))}
          </select>
        </label>
      )}
      <p class="quiet" role="status">
        {phrase && !offsets.length ? "The passage does not contain this text." : ""}
      </p>
      <p>
        <button type="submit" class="main" disabled={!offsets.length}>
          Next
        </button>{" "}
        <button type="button" onClick={onCancel}>
          Cancel <kbd aria-hidden="true">Esc</kbd>
        </button>
      </p>
    </form>
  );
}

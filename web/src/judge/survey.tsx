// A survey: select the links that a mention should have, or none.
import { useLayoutEffect, useState } from "preact/hooks";
import { EntityDescription, entityName, KeyButton } from "../common/components";
import type { Link } from "./api";

export function LinkOptions({ link, onSubmit }: { link: Link; onSubmit: (chosen: string[]) => void }) {
  const [selection, setSelection] = useState<readonly string[]>(link.decision?.selected ?? []);
  const toggleOption = (id: string) =>
    setSelection(selection.includes(id) ? selection.filter((item) => item !== id) : [...selection, id]);
  const submitSelection = () => selection.length && onSubmit([...selection]);
  // Synchronous, so that a key never acts on the previous link.
  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const option = link.options[Number(event.key) - 1];
      if (option) toggleOption(option.id);
      else if (event.key === "0") onSubmit([]);
      else if (event.key === "Enter" && (event.target as HTMLElement).tagName !== "BUTTON") submitSelection();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  });
  return (
    <section class="link" aria-label="Proposed links">
      {link.decision && (
        <p class="decided">
          {link.decision.selected.length ? "You have answered this." : "You chose not to annotate this."} Answer again
          to change it.
        </p>
      )}
      <ul class="options">
        {link.options.map((option, index) => (
          <li key={option.id}>
            <label>
              <input
                type="checkbox"
                checked={selection.includes(option.id)}
                onChange={() => toggleOption(option.id)}
                aria-keyshortcuts={String(index + 1)}
              />
              <span>
                <b dir="auto">{entityName(option)}</b> {index < 9 && <kbd aria-hidden="true">{index + 1}</kbd>}
              </span>
            </label>
            <EntityDescription entity={option} />
          </li>
        ))}
      </ul>
      <div class="decisions" role="group" aria-label="Answer">
        <KeyButton shortcut="Enter" className="main verify" onClick={submitSelection} isDisabled={!selection.length}>
          Submit links
        </KeyButton>
        <KeyButton shortcut="0" className="main remove" onClick={() => onSubmit([])}>
          Do not annotate
        </KeyButton>
      </div>
    </section>
  );
}

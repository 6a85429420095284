// Search for the entity that is meant, as one types.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { nameOf } from "./parts";

const WAIT = 150; // milliseconds without a new letter, before the server is asked

export function Search({ words, search, label, onChosen, onLeft }: { words: string; search: boolean; label: string; onChosen: (entity: api.Entity) => void; onLeft: () => void }) {
  const [text, type] = useState(words);
  const [found, set] = useState<{ entities: api.Entity[]; for: string; says?: string }>({ entities: [], for: "" });
  const [at, go] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), []); // before the next letter comes
  useEffect(() => {
    const asked = text.trim();
    if (!search || !asked) return set({ entities: [], for: asked });
    let live = true;
    const timer = setTimeout(() => {
      api.search(asked).then(
        (entities) => live && (set({ entities, for: asked }), go(0)),
        (problem: Error) => live && set({ entities: [], for: asked, says: problem.message }),
      );
    }, WAIT);
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [text]);
  const asked = text.trim();
  // An id that is known from elsewhere can be given as it is.
  const own: api.Entity[] = /^(Q[1-9]\d*|https?:\/\/\S+)$/.test(asked) || (!search && asked) ? [{ id: asked, name: null, description: "this id, as it is", types: [], link: null }] : [];
  const options = [...own.filter((one) => !found.entities.some((other) => other.id === one.id)), ...found.entities];
  const here = Math.min(at, options.length - 1);
  useEffect(() => document.getElementById(`option-${here}`)?.scrollIntoView({ block: "nearest" }), [here, options.length]);
  const keys = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) go((here + step + options.length) % options.length);
    else if (event.key === "Enter") options[here] && onChosen(options[here]);
    else if (event.key === "Escape") onLeft();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const says = found.says ?? (options.length ? "" : !asked ? "Type a name." : found.for !== asked && search ? "Searching …" : "Nothing is found. Try another name, or the id.");
  return (
    <div class="search">
      <label for="search">{label}</label>
      <input
        ref={field}
        id="search"
        type="search"
        role="combobox"
        list={undefined}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        maxLength={200}
        value={text}
        aria-expanded={options.length > 0}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={options.length ? `option-${here}` : undefined}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={keys}
      />
      <ul id="found" role="listbox" aria-label="Entities">
        {options.map((one, place) => (
          <li key={one.id} id={`option-${place}`} role="option" aria-selected={place === here} onClick={() => onChosen(one)}>
            <b dir="auto">{nameOf(one)}</b> <span class="quiet">{one.name === null ? "" : one.id}</span>
            {one.description && <span class="description" dir="auto">{one.description}</span>}
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">{says}</p>
      <p class="quiet small"><span class="hint"><kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> takes it. </span><button type="button" onClick={onLeft}>Cancel <kbd aria-hidden="true">Esc</kbd></button></p>
    </div>
  );
}

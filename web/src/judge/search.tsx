// Search for an entity while typing.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { entityName } from "./components";

const DEBOUNCE_MS = 150;

export function EntitySearch({
  initialText,
  hasSearch,
  label,
  onSelect,
  onCancel,
}: {
  initialText: string;
  hasSearch: boolean;
  label: string;
  onSelect: (entity: api.Entity) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState(initialText);
  const [result, setResult] = useState<{ entities: api.Entity[]; query: string; message?: string }>({
    entities: [],
    query: "",
  });
  const [position, setPosition] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), []); // before the next keystroke
  useEffect(() => {
    const query = text.trim();
    if (!hasSearch || !query) return setResult({ entities: [], query });
    let isActive = true;
    const timer = setTimeout(() => {
      api.searchEntities(query).then(
        (entities) => {
          if (!isActive) return;
          setResult({ entities, query });
          setPosition(0);
        },
        (error: Error) => isActive && setResult({ entities: [], query, message: error.message }),
      );
    }, DEBOUNCE_MS);
    return () => {
      isActive = false;
      clearTimeout(timer);
    };
  }, [text]);
  const query = text.trim();
  // Accept an id that the search does not find.
  const typedEntities: api.Entity[] =
    /^(Q[1-9]\d*|https?:\/\/\S+)$/.test(query) || (!hasSearch && query)
      ? [{ id: query, name: null, description: "use this id", types: [], link: null }]
      : [];
  const options = [
    ...typedEntities.filter((entity) => !result.entities.some((match) => match.id === entity.id)),
    ...result.entities,
  ];
  const selectedIndex = Math.min(position, options.length - 1);
  useEffect(
    () => document.getElementById(`option-${selectedIndex}`)?.scrollIntoView({ block: "nearest" }),
    [selectedIndex, options.length],
  );
  const handleKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) setPosition((selectedIndex + step + options.length) % options.length);
    else if (event.key === "Enter") options[selectedIndex] && onSelect(options[selectedIndex]);
    else if (event.key === "Escape") onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const message =
    result.message ??
    (options.length
      ? ""
      : !query
        ? "Enter a name."
        : result.query !== query && hasSearch
          ? "Searching …"
          : "No results. Try another name or an id.");
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
        aria-controls="search-results"
        aria-autocomplete="list"
        aria-activedescendant={options.length ? `option-${selectedIndex}` : undefined}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={handleKey}
      />
      <ul id="search-results" role="listbox" aria-label="Entities">
        {options.map((option, index) => (
          <li
            key={option.id}
            id={`option-${index}`}
            role="option"
            aria-selected={index === selectedIndex}
            onClick={() => onSelect(option)}
          >
            <b dir="auto">{entityName(option)}</b> <span class="quiet">{option.name === null ? "" : option.id}</span>
            {option.description && (
              <span class="description" dir="auto">
                {option.description}
              </span>
            )}
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {message}
      </p>
      <p class="quiet small">
        <span class="hint">
          <kbd>↑</kbd> <kbd>↓</kbd> to move, <kbd>Enter</kbd> to select.{" "}
        </span>
        <button type="button" onClick={onCancel}>
          Cancel <kbd aria-hidden="true">Esc</kbd>
        </button>
      </p>
    </div>
  );
}

// Search for an entity while typing.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { entityName } from "./components";
import { type Entity, getCachedSearch, searchEntities } from "./http";

const DEBOUNCE_MS = 150;

/** An entity that the page proposes before the search answers, and the reason. */
export interface Proposal {
  entity: Entity;
  reason: string;
}

/** An option that is no entity, at the end of the list. */
export interface SearchCommand {
  name: string;
  description: string;
  run: () => void;
  /** A key that runs it while the search has no results. */
  shortcut?: string;
}

interface SearchOption {
  key: string;
  name: string;
  id: string;
  description: string | null;
  reason: string;
  select: () => void;
}

/** Drop case and diacritics. */
const foldText = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

const hasText = ({ name, id }: Entity, text: string, reason = ""): boolean =>
  [name ?? "", id, reason].some((field) => foldText(field).includes(text));

export function EntitySearch({
  initialText,
  hasSearch,
  label,
  proposals = [],
  commands = [],
  excludedIds = [],
  onSelect,
  onCancel,
}: {
  initialText: string;
  hasSearch: boolean;
  label: string;
  proposals?: readonly Proposal[];
  commands?: readonly SearchCommand[];
  excludedIds?: readonly string[];
  onSelect: (entity: Entity) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState(initialText);
  const [result, setResult] = useState<{ entities: Entity[]; query: string; message?: string }>(() => ({
    entities: getCachedSearch(initialText.trim()) ?? [],
    query: getCachedSearch(initialText.trim()) ? initialText.trim() : "",
  }));
  const [position, setPosition] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  // Before the next keystroke.
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true });
    field.current?.select();
  }, []);
  useEffect(() => {
    const query = text.trim();
    if (!hasSearch || !query) return setResult({ entities: [], query });
    let isActive = true;
    const timer = setTimeout(
      () =>
        searchEntities(query).then(
          (entities) => isActive && setResult({ entities, query }),
          (error: Error) => isActive && setResult({ entities: [], query, message: error.message }),
        ),
      text === initialText ? 0 : DEBOUNCE_MS,
    );
    return () => {
      isActive = false;
      clearTimeout(timer);
    };
  }, [text]);
  const query = text.trim();
  const queryText = foldText(query);
  const isAnswered = result.query === query || !hasSearch;
  const visibleProposals = proposals.filter(
    ({ entity, reason }) => text === initialText || hasText(entity, queryText, reason),
  );
  // Until the answer arrives, earlier results stay if they fit what was typed since.
  const matches = isAnswered ? result.entities : result.entities.filter((entity) => hasText(entity, queryText));
  // Accept an id that the search does not find. The server turns an address into the id of its entity.
  const isAddress = /^https?:\/\/\S+$/.test(query);
  const typedEntities: Entity[] =
    /^Q[1-9]\d*$/.test(query) ||
    (isAddress && isAnswered && !result.entities.length) ||
    (!hasSearch && query && text !== initialText)
      ? [{ id: query, name: null, description: "use this id", types: [], link: null }]
      : [];
  const entities = [
    ...visibleProposals,
    ...typedEntities.filter((typed) => !matches.some((match) => match.id === typed.id)).map(addReason),
    ...matches.map(addReason),
  ].filter(
    ({ entity }, index, all) =>
      !excludedIds.includes(entity.id) && all.findIndex((other) => other.entity.id === entity.id) === index,
  );
  const options: SearchOption[] = [
    ...entities.map(({ entity, reason }) => ({
      key: entity.id,
      name: entityName(entity),
      id: entity.name === null ? "" : entity.id,
      description: [entity.description, entity.types.join(", ")].filter(Boolean).join(" · ") || null,
      reason,
      select: () => onSelect(entity),
    })),
    ...commands.map(({ name, description, run }) => ({
      key: `command ${name}`,
      name,
      id: "",
      description,
      reason: "",
      select: run,
    })),
  ];
  const isEmpty = !entities.length;
  // Without entities no option is preselected, so that Enter does nothing unexpected.
  const selectedIndex = isEmpty && position === 0 ? -1 : Math.min(position, options.length - 1);
  useEffect(
    () => document.getElementById(`option-${selectedIndex}`)?.scrollIntoView({ block: "nearest" }),
    [selectedIndex, options.length],
  );
  const hasNoResults = isEmpty && isAnswered && !!query && !result.message;
  const shortcut = hasNoResults ? commands.find((command) => command.shortcut) : undefined;
  const handleKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    // After a digit or a space the key goes on with the query.
    const isShortcut = event.key === shortcut?.shortcut && (text === initialText || !/[\d\s]$/.test(text));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (shortcut && isShortcut) shortcut.run();
    else if (step && options.length)
      setPosition(
        selectedIndex < 0 && step < 0 ? options.length - 1 : (selectedIndex + step + options.length) % options.length,
      );
    else if (event.key === "Enter") options[selectedIndex]?.select();
    else if (event.key === "Escape") onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const message =
    result.message ??
    (hasNoResults
      ? `No results. Try another name or an id.${shortcut ? ` Press ${shortcut.shortcut} for ${shortcut.name}.` : ""}`
      : !isEmpty
        ? ""
        : query
          ? "Searching …"
          : "Enter a name.");
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
        aria-activedescendant={selectedIndex >= 0 ? `option-${selectedIndex}` : undefined}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setPosition(0);
        }}
        onKeyDown={handleKey}
      />
      <p class="quiet" role="status">
        {message}
      </p>
      <ul id="search-results" role="listbox" aria-label="Entities">
        {options.map((option, index) => (
          <li
            key={option.key}
            id={`option-${index}`}
            role="option"
            aria-selected={index === selectedIndex}
            onClick={option.select}
          >
            <b dir="auto">{option.name}</b> <span class="quiet">{option.id}</span>
            {option.reason && <span class="reason"> {option.reason}</span>}
            {option.description && (
              <span class="description" dir="auto">
                {option.description}
              </span>
            )}
          </li>
        ))}
      </ul>
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

const addReason = (entity: Entity): Proposal => ({ entity, reason: "" });

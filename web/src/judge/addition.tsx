// A mention that nobody marked: which words, and what they name.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Stretch } from "../text";
import type { Entity, Task } from "./api";
import { Search } from "./search";

const letters = (text: string): number => [...text].length;

/** Where some words stand in a text, in code points. */
function places(text: string, words: string): number[] {
  const found: number[] = [];
  for (let at = words ? text.indexOf(words) : -1; at >= 0; at = text.indexOf(words, at + words.length)) found.push(letters(text.slice(0, at)));
  return found;
}

export function Addition({ task, search, onChosen, onLeft }: { task: Task; search: boolean; onChosen: (start: number, end: number, entity: Entity) => void; onLeft: () => void }) {
  const marked = String(getSelection() ?? "").trim();
  const [words, type] = useState(task.text.includes(marked) ? marked : "");
  const [which, choose] = useState(0);
  const [sure, go] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []); // before the next letter comes
  const every = places(task.text, words);
  const start = every[Math.min(which, every.length - 1)];
  if (sure) return <Search words={words} search={search} label={`What do the words “${words}” name?`} onChosen={(entity) => onChosen(start, start + letters(words), entity)} onLeft={onLeft} />;
  const stretch = new Stretch(0, task.text);
  const around = (place: number) => `…${stretch.slice(Math.max(0, place - 20), place + letters(words) + 20)}…`;
  return (
    <form class="skipping" onSubmit={(event) => { event.preventDefault(); every.length && go(true); }}>
      <label class="field">The words of the passage that should be linked <input ref={field} type="text" value={words} dir="auto" autocomplete="off" onInput={(event) => type(event.currentTarget.value)} /></label>
      {every.length > 1 && <label class="field">Where <select value={which} onChange={(event) => choose(Number(event.currentTarget.value))}>{every.map((place, number) => <option key={place} value={number}>{around(place)}</option>)}</select></label>}
      <p class="quiet" role="status">{words && !every.length ? "The passage does not have these words." : ""}</p>
      <p><button type="submit" class="main" disabled={!every.length}>Next</button> <button type="button" onClick={onLeft}>Cancel <kbd aria-hidden="true">Esc</kbd></button></p>
    </form>
  );
}

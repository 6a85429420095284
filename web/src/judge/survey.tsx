// A survey: one or more of the links that are proposed for a mention, or none.
import { useLayoutEffect, useState } from "preact/hooks";
import type { Link } from "./api";
import { About, Key, nameOf } from "./parts";

export function Options({ link, onChosen }: { link: Link; onChosen: (chosen: string[]) => void }) {
  const [ticked, set] = useState<readonly string[]>(link.decided?.chosen ?? []);
  const tick = (id: string) => set(ticked.includes(id) ? ticked.filter((one) => one !== id) : [...ticked, id]);
  const send = () => ticked.length && onChosen([...ticked]);
  // At once: a key must never be about what was shown before.
  useLayoutEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const own = link.options[Number(event.key) - 1];
      if (own) tick(own.id);
      else if (event.key === "0") onChosen([]);
      else if (event.key === "Enter" && (event.target as HTMLElement).tagName !== "BUTTON") send();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });
  return (
    <section class="link" aria-label="The links that are proposed">
      {link.decided && <p class="decided">{link.decided.chosen.length ? "You answered this." : "You said that it should have no link."} Answer again to change it.</p>}
      <ul class="options">
        {link.options.map((one, place) => (
          <li key={one.id}>
            <label>
              <input type="checkbox" checked={ticked.includes(one.id)} onChange={() => tick(one.id)} aria-keyshortcuts={String(place + 1)} />
              <span><b dir="auto">{nameOf(one)}</b> {place < 9 && <kbd aria-hidden="true">{place + 1}</kbd>}</span>
            </label>
            <About entity={one} />
          </li>
        ))}
      </ul>
      <div class="decisions" role="group" aria-label="Answer">
        <Key of="Enter" kind="main verify" onClick={send} disabled={!ticked.length}>These links</Key>
        <Key of="0" kind="main remove" onClick={() => onChosen([])}>Do not annotate</Key>
      </div>
    </section>
  );
}

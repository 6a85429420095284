// The list of keyboard shortcuts, which "?" opens.

import { useEffect, useRef } from "preact/hooks";

const COMMON_KEYS: readonly (readonly [string, string])[] = [
  ["?", "list the keys"],
  ["/", "go to the search field"],
  ["Tab", "go to the next link or control"],
  ["Enter", "open the link"],
  ["Esc", "close a list"],
];

const isTyping = (event: KeyboardEvent): boolean =>
  event.ctrlKey ||
  event.metaKey ||
  event.altKey ||
  /INPUT|SELECT|TEXTAREA/.test((event.target as Element).tagName ?? "");

/** A button that opens the list of keys, with the list as a dialog. */
export function KeyList({
  pageTitle,
  pageKeys,
}: {
  pageTitle: string;
  pageKeys: readonly (readonly [string, string])[];
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      const search = document.querySelector<HTMLInputElement>("main input[type=search]");
      if (event.key === "?") dialog.current!.open ? dialog.current!.close() : dialog.current!.showModal();
      else if (event.key === "/" && search && !dialog.current!.open) search.focus();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  }, []);
  const renderKeys = (keys: readonly (readonly [string, string])[]) => (
    <dl>
      {keys.map(([key, description]) => (
        <>
          <dt>
            {key.split(" ").map((name) => (
              <kbd key={name}>{name}</kbd>
            ))}
          </dt>
          <dd>{description}</dd>
        </>
      ))}
    </dl>
  );
  return (
    <>
      <button type="button" aria-keyshortcuts="?" onClick={() => dialog.current!.showModal()}>
        Keys <kbd aria-hidden="true">?</kbd>
      </button>
      {/* Keys of the page below do not act while the list is open. */}
      <dialog
        ref={dialog}
        class="keys"
        aria-label="Keys"
        onKeyDown={(event) => event.key !== "?" && event.stopPropagation()}
        onClick={(event) => event.target === dialog.current && dialog.current!.close()}
      >
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
        {pageKeys.length > 0 && (
          <>
            <h2>{pageTitle}</h2>
            {renderKeys(pageKeys)}
          </>
        )}
        <h2>All pages</h2>
        {renderKeys(COMMON_KEYS)}
      </dialog>
    </>
  );
}

// The panels beside the text: search, cluster name, types, categories, note, history and keys.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { SkipForm } from "../common/components";
import type { Entity } from "../common/http";
import { EntitySearch, type SearchCommand } from "../common/search";
import type { Dimension, HistoryEntry, Label } from "./api";
import { loadHistory } from "./api";
import { type Editor, isolate, type Panel, type SearchPurpose } from "./editor";
import { listCommands, MOVES } from "./keys";
import { LabelSummary } from "./label-summary";

const SKIP_REASONS = [
  "I cannot read the language",
  "I do not know enough about the subject",
  "The text is damaged",
  "I know the author or a person in the text",
];

const QUESTIONS: Record<SearchPurpose, (surface: string) => string> = {
  link: (surface) => `Link “${surface}” to`,
  alternative: (surface) => `Alternative entity for “${surface}”`,
  part: (surface) => `Link the part “${surface}” to`,
  coreference: (surface) => `“${surface}” refers to`,
};

const shorten = (text: string): string => {
  const line = text.replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 28)} … ${line.slice(-28)}` : line;
};

export function PanelView({ editor, panel, document }: { editor: Editor; panel: Panel; document: string }) {
  switch (panel.kind) {
    case "search":
      return <SearchPanel editor={editor} purpose={panel.purpose} isSpanChanged={panel.isSpanChanged} />;
    case "cluster":
      return <ClusterPanel editor={editor} />;
    case "types":
      return <TypesPanel editor={editor} />;
    case "categories":
      return <CategoriesPanel editor={editor} />;
    case "note":
      return <NotePanel editor={editor} />;
    case "history":
      return <HistoryPanel editor={editor} document={document} />;
    case "skip":
      return (
        <SkipForm
          question="Why are you skipping this document?"
          reasons={SKIP_REASONS}
          onSkip={(reason) => editor.changeState("skip", reason)}
          onCancel={() => editor.closePanel()}
        />
      );
    case "help":
      return <HelpPanel editor={editor} />;
  }
}

function SearchPanel({
  editor,
  purpose,
  isSpanChanged,
}: {
  editor: Editor;
  purpose: SearchPurpose;
  isSpanChanged?: boolean;
}) {
  const { start, end } = editor.cursor.value;
  const surface = editor.document.index.slice(start, end);
  const specials: [kind: "nil" | "quantity" | "datetime", name: string, description: string][] = [
    ["nil", "NIL", "not in the knowledge base"],
    ["quantity", "Quantity", "a number or an ordinal"],
    ["datetime", "Date or time", "a point or span of time"],
  ];
  const commands: SearchCommand[] =
    purpose === "coreference"
      ? []
      : purpose !== "link"
        ? specials.map(([kind, name, description]) => ({
            name,
            description,
            shortcut: kind === "nil" ? "0" : undefined,
            run: () => editor.selectSpecial(purpose, kind),
          }))
        : [
            {
              name: "NIL",
              description: "not in the knowledge base",
              shortcut: "0",
              run: () => editor.openLabelPanel("cluster"),
            },
            { name: "Quantity", description: "a number or an ordinal", run: () => editor.makeKind("quantity") },
            { name: "Date or time", description: "a point or span of time", run: () => editor.makeKind("datetime") },
            { name: "No link yet", description: "mark the span only", run: () => editor.markUnlinked() },
          ];
  return (
    <EntitySearch
      key={`${purpose} ${start} ${end}`}
      initialText={purpose === "coreference" ? "" : editor.query}
      hasSearch={editor.project.can_search}
      label={QUESTIONS[purpose](isolate(shorten(surface)))}
      proposals={editor.getProposals(purpose, isSpanChanged)}
      excludedIds={editor.getExcludedIds(purpose)}
      commands={commands}
      onSelect={(entity) => editor.selectEntity(purpose, entity)}
      onCancel={() => editor.closePanel()}
    />
  );
}

/** A panel that keys close. */
function PanelForm({
  title,
  children,
  onKey,
  onSubmit,
  onCancel,
  submitName = "Save",
}: {
  title: string;
  children: ComponentChildren;
  onKey?: (key: string) => boolean;
  onSubmit?: () => void;
  onCancel: () => void;
  submitName?: string;
}) {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    const field = form.current?.querySelector<HTMLElement>("input, textarea") ?? form.current;
    field?.focus({ preventScroll: true });
    if (field instanceof HTMLInputElement) field.select();
  }, []);
  const handleKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const isButton = event.target instanceof HTMLButtonElement;
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter" && !event.shiftKey && !isButton && onSubmit) onSubmit();
    else if (event.ctrlKey || event.metaKey || event.altKey || !onKey?.(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form
      ref={form}
      class="panel-form"
      aria-label={title}
      tabIndex={-1}
      onKeyDown={handleKey}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit?.();
      }}
    >
      {children}
      <p class="small">
        {onSubmit && (
          <>
            <button type="submit">
              {submitName} <kbd aria-hidden="true">Enter</kbd>
            </button>{" "}
          </>
        )}
        <button type="button" onClick={onCancel}>
          Cancel <kbd aria-hidden="true">Esc</kbd>
        </button>
      </p>
    </form>
  );
}

function ClusterPanel({ editor }: { editor: Editor }) {
  const clusters = [
    ...new Set(editor.document.marks.map(({ label }) => label.nil_cluster).filter((name) => name != null)),
  ];
  const [name, setName] = useState(editor.getClusterName());
  return (
    <PanelForm
      title="NIL"
      submitName="Make NIL"
      onSubmit={() => editor.makeNil(name.trim())}
      onCancel={() => editor.closePanel()}
    >
      <label class="field">
        <span>
          <b>NIL</b>: name of the cluster
        </span>
        <input
          type="text"
          value={name}
          dir="auto"
          list="clusters"
          autocomplete="off"
          maxLength={200}
          aria-describedby="cluster-hint"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <datalist id="clusters">
        {clusters.map((cluster) => (
          <option key={cluster} value={cluster} />
        ))}
      </datalist>
      <p class="quiet small" id="cluster-hint">
        Mentions of one unknown entity share a cluster. Empty: no cluster.
      </p>
    </PanelForm>
  );
}

/** A list of values that digits or keys of their own select. */
function KeyList({
  values,
  selection,
  onSelect,
}: {
  values: readonly { id: string; title: string; key: string }[];
  selection: readonly string[];
  onSelect: (id: string) => void;
}) {
  return (
    <div class="key-list" role="group">
      {values.map(({ id, title, key }) => (
        <button
          key={id}
          type="button"
          aria-pressed={selection.includes(id)}
          aria-keyshortcuts={key}
          onClick={() => onSelect(id)}
        >
          <kbd aria-hidden="true">{key}</kbd> {title}
        </button>
      ))}
    </div>
  );
}

function TypesPanel({ editor }: { editor: Editor }) {
  const values = editor.project.types.map((type, index) => ({ id: type, title: type, key: String(index + 1) }));
  return (
    <PanelForm
      title="Type"
      onKey={(key) => {
        const value = values.find((item) => item.key === key);
        if (value) editor.toggleType(value.id);
        return !!value;
      }}
      onCancel={() => editor.closePanel()}
    >
      <h2>Type</h2>
      <KeyList
        values={values}
        selection={editor.current?.label.types ?? []}
        onSelect={(type) => editor.toggleType(type)}
      />
    </PanelForm>
  );
}

function CategoriesPanel({ editor }: { editor: Editor }) {
  const { scheme } = editor.project;
  const initialCategories = editor.current?.label.categories ?? [];
  const [index, setIndex] = useState(0);
  const [selection, setSelection] = useState<Record<string, string | undefined>>(() =>
    Object.fromEntries(
      scheme.map((dimension) => [
        dimension.dimension,
        dimension.values.find(({ id }) => initialCategories.includes(id))?.id ??
          editor.deriveCategory(dimension) ??
          undefined,
      ]),
    ),
  );
  const dimensionIds = new Set(scheme.flatMap(({ values }) => values.map(({ id }) => id)));
  const save = (choice: Record<string, string | undefined>) =>
    editor.setCategories([
      ...initialCategories.filter((category) => !dimensionIds.has(category)),
      ...Object.values(choice).filter((category) => category !== undefined),
    ]);
  const goOn = (choice: Record<string, string | undefined>) =>
    index + 1 < scheme.length ? setIndex(index + 1) : save(choice);
  const selectValue = (id: string) => {
    const choice = { ...selection, [scheme[index].dimension]: id };
    setSelection(choice);
    goOn(choice);
  };
  const values = scheme[index].values.map((value, position) => ({ ...value, key: value.key ?? String(position + 1) }));
  return (
    <PanelForm
      title="Categories"
      submitName={index + 1 < scheme.length ? "Next" : "Save"}
      onKey={(key) => {
        if (key === "ArrowLeft" || key === "Backspace") setIndex(Math.max(0, index - 1));
        else if (key === "ArrowRight") setIndex(Math.min(scheme.length - 1, index + 1));
        else {
          const value = values.find((item) => item.key.toLowerCase() === key.toLowerCase());
          if (!value) return false;
          selectValue(value.id);
        }
        return true;
      }}
      onSubmit={() => goOn(selection)}
      onCancel={() => editor.closePanel()}
    >
      <ol class="dimensions">
        {scheme.map(({ dimension, title, values: options }, position) => (
          <li key={dimension} aria-current={position === index ? "step" : undefined}>
            <button type="button" onClick={() => setIndex(position)}>
              {title}
            </button>{" "}
            <span class="quiet">{options.find(({ id }) => id === selection[dimension])?.title ?? "–"}</span>
          </li>
        ))}
      </ol>
      <h2>{scheme[index].title}</h2>
      <KeyList
        key={scheme[index].dimension}
        values={values}
        selection={[selection[scheme[index].dimension] ?? ""]}
        onSelect={selectValue}
      />
    </PanelForm>
  );
}

function NotePanel({ editor }: { editor: Editor }) {
  const [note, setNote] = useState(editor.current?.note ?? "");
  return (
    <PanelForm title="Note" onSubmit={() => editor.setNote(note.trim())} onCancel={() => editor.closePanel()}>
      <label class="field">
        Note
        <textarea
          value={note}
          rows={4}
          dir="auto"
          maxLength={2000}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
    </PanelForm>
  );
}

const KIND_TITLES: Readonly<Record<string, string>> = {
  edit: "changed",
  undo: "undone",
  redo: "redone",
  round: "adjudicated",
  decision: "decided",
};

function HistoryPanel({ editor, document }: { editor: Editor; document: string }) {
  const id = editor.current?.id;
  return (
    <PanelForm title="History of the label" onCancel={() => editor.closePanel()}>
      <h2>History of the label</h2>
      <History
        key={id}
        load={() => loadHistory(document, id)}
        getSurface={(label) => editor.document.getSurface(label)}
        scheme={editor.project.scheme}
        getEntity={(entity) => editor.document.getEntity(entity)}
      />
    </PanelForm>
  );
}

/** A list of changes, oldest first. */
export function History({
  load,
  getSurface,
  scheme,
  getEntity,
}: {
  load: () => Promise<HistoryEntry[]>;
  getSurface: (label: Label) => string;
  scheme: readonly Dimension[];
  getEntity: (id: string) => Entity;
}) {
  const [changes, setChanges] = useState<HistoryEntry[]>([]);
  const [message, setMessage] = useState("Loading …");
  useEffect(() => {
    load().then(
      (loaded) => {
        setChanges(loaded);
        setMessage(loaded.length ? "" : "No changes yet.");
      },
      (error: Error) => setMessage(error.message),
    );
  }, []);
  const describe = (state: HistoryEntry["after"]) =>
    state ? (
      <LabelSummary
        label={state.label}
        note={state.note}
        surface={getSurface(state.label)}
        scheme={scheme}
        getEntity={getEntity}
      />
    ) : (
      <span class="quiet">no label</span>
    );
  return (
    <>
      <p class="quiet" role="status">
        {message}
      </p>
      <ol class="history">
        {changes.map((change, index) => (
          <li key={index}>
            <span class="quiet">
              {new Date(change.server_time).toLocaleString()} · {KIND_TITLES[change.kind] ?? change.kind} by {change.by}
            </span>
            <br />
            {describe(change.after)}
            {change.reason && <p dir="auto">{change.reason}</p>}
          </li>
        ))}
      </ol>
    </>
  );
}

function HelpPanel({ editor }: { editor: Editor }) {
  const commands = listCommands(editor.project, editor.hasServer);
  const rows = [...MOVES, ...commands.map(({ title, description }) => [title, description] as const)];
  return <KeyHelp rows={rows} onClose={() => editor.closePanel()} />;
}

/** A table of keys. */
export function KeyHelp({
  rows,
  onClose,
}: {
  rows: readonly (readonly [keys: string, description: string])[];
  onClose: () => void;
}) {
  return (
    <PanelForm title="Keys" onCancel={onClose}>
      <h2>Keys</h2>
      <table class="keys">
        <tbody>
          {rows.map(([keys, description]) => (
            <tr key={description}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </PanelForm>
  );
}

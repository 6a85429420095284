// Adjudication: versions of annotators side by side, each region decided with one key.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { FailureNotice, KeyButton } from "../common/components";
import { ApiError, createId, type Entity } from "../common/http";
import { ProjectGuidelines, SidePanel, useEditorKeys } from "./annotating";
import type * as api from "./api";
import { loadAdjudication, loadAdjudications, loadHistory, sendDecision } from "./api";
import { describeTarget, Editor, isolate } from "./editor";
import { LabelGroups } from "./label-summary";
import { cleanLabel } from "./labels";
import { History, KeyHelp } from "./panels";
import { LoadedPage, type PageProps, StatusText } from "./shell";
import { TextIndex } from "./text-index";
import { TextView } from "./text-view";

const CONTEXT_LENGTH = 300; // characters on each side
const KEYS: readonly (readonly [keys: string, description: string])[] = [
  ["1 … 9", "Choose a version"],
  ["0", "No label"],
  ["E", "Edit the labels of the region"],
  ["R", "Reason, which the annotators see"],
  ["U", "Reopen the region"],
  ["H", "History of the region"],
  ["N", "Next region; after the last decision, next document"],
  ["P", "Previous region"],
  ["← →", "Previous or next region"],
  ["Enter", "Next open region, or next document"],
  ["?", "Keys"],
  ["Esc", "Close, or cancel"],
];

/** The documents with regions to decide. */
export function AdjudicationListPage({ onSessionEnd, message }: PageProps & { message: string }) {
  return (
    <LoadedPage load={loadAdjudications} className="session documents" onSessionEnd={onSessionEnd}>
      {(documents) => {
        const openCount = documents.reduce((sum, document) => sum + document.open, 0);
        const next = documents.find((document) => document.open > 0);
        return (
          <>
            <h1>Adjudicate</h1>
            {message && (
              <p role="status">
                <StatusText text={message} />
              </p>
            )}
            <p class="summary">
              {openCount > 0
                ? `${openCount === 1 ? "One region" : `${openCount} regions`} to decide.`
                : documents.length
                  ? "All regions are decided."
                  : "No document is finished by all its annotators yet."}
            </p>
            {next && (
              <p>
                <StartButton name={next.name} title={next.document} />
              </p>
            )}
            {documents.length > 0 && (
              <div class="frame">
                <table class="sheet">
                  <thead>
                    <tr>
                      <th scope="col">Document</th>
                      <th scope="col" class="number">
                        Open
                      </th>
                      <th scope="col" class="number">
                        Decided
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {documents.map(({ name, document, open, decided }) => (
                      <tr key={name}>
                        <th scope="row">
                          <a href={`#/adjudicate/${name}`} dir="auto">
                            {document}
                          </a>
                        </th>
                        <td data-label="Open" class="number">
                          {open}
                        </td>
                        <td data-label="Decided" class="number">
                          {decided}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </>
        );
      }}
    </LoadedPage>
  );
}

function StartButton({ name, title }: { name: string; title: string }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <button
      ref={button}
      type="submit"
      class="main"
      onClick={() => {
        location.hash = `#/adjudicate/${name}`;
      }}
    >
      Decide on {title} <kbd aria-hidden="true">Enter</kbd>
    </button>
  );
}

interface LeaveProps {
  message: string;
  /** Go to another page with a message. */
  onLeave: (message: string, hash: string) => void;
}

export function AdjudicationPage({
  project,
  name,
  message,
  onLeave,
  onSessionEnd,
}: PageProps & LeaveProps & { name: string }) {
  return (
    <LoadedPage load={() => loadAdjudication(name)} className="adjudicate" onSessionEnd={onSessionEnd}>
      {(adjudication, setAdjudication) => (
        <Regions
          project={project}
          adjudication={adjudication}
          onChange={setAdjudication}
          onReload={() => loadAdjudication(name)}
          message={message}
          onLeave={onLeave}
          onSessionEnd={onSessionEnd}
        />
      )}
    </LoadedPage>
  );
}

type Mode = "" | "edit" | "reason" | "history" | "help";

function Regions({
  project,
  adjudication,
  onChange,
  onReload,
  onSessionEnd,
  message,
  onLeave,
}: PageProps &
  LeaveProps & {
    adjudication: api.Adjudication;
    onChange: (adjudication: api.Adjudication) => void;
    onReload: () => Promise<api.Adjudication>;
  }) {
  const { regions, name } = adjudication;
  const [position, setPosition] = useState(
    Math.max(
      0,
      regions.findIndex(({ state }) => state === "open"),
    ),
  );
  const [mode, setMode] = useState<Mode>("");
  const [reason, setReason] = useState("");
  const [status, setStatus] = useState(message);
  const [failure, setFailure] = useState<{ message: string; retry: () => void } | null>(null);
  const isWorking = useRef(false);
  const index = useMemo(() => new TextIndex(adjudication.text), [adjudication.text]);
  const region = regions[position] as api.Region | undefined;
  useEffect(() => setReason(region?.reason ?? ""), [region?.digest, region?.reason, position]);
  const openCount = regions.filter(({ state }) => state === "open").length;

  const goTo = (next: number) => {
    if (!regions.length) return;
    setMode("");
    setPosition((next + regions.length) % regions.length);
  };
  const goToOpen = () => {
    const order = regions.map((_, step) => (position + 1 + step) % regions.length);
    const next = order.find((item) => regions[item].state === "open");
    return next === undefined ? goToNextDocument() : goTo(next);
  };
  const goToNextDocument = async (): Promise<void> => {
    if (isWorking.current) return;
    isWorking.current = true;
    try {
      const documents = await loadAdjudications();
      const ownIndex = documents.findIndex((item) => item.name === name);
      const next = [...documents.slice(ownIndex + 1), ...documents].find((item) => item.open > 0 && item.name !== name);
      const text = `All regions of ${isolate(adjudication.document)} are decided.`;
      if (next) onLeave(`${text} This is ${isolate(next.document)}.`, `#/adjudicate/${next.name}`);
      else onLeave(`${text} No document has open regions.`, "#/adjudicate");
    } catch (error) {
      if (error instanceof ApiError && error.error === "unauthorised") return onSessionEnd(error.message);
      setFailure({ message: (error as Error).message, retry: () => void goToNextDocument() });
    } finally {
      isWorking.current = false;
    }
  };
  const goForward = () => (openCount > 0 ? goTo(position + 1) : goToNextDocument());
  const saveReason = async (text: string) => {
    setReason(text);
    setMode("");
    if (region?.state !== "decided") return setStatus(text ? "The reason goes with your decision." : "No reason.");
    if (text === region.reason || isWorking.current) return;
    const { start, end, digest, choice } = region;
    const labels = choice === "edited" ? { labels: listDecidedLabels(adjudication, region) } : {};
    await submit({ id: createId(), start, end, digest, choice: choice ?? "none", reason: text, ...labels }, true);
  };
  const decide = async (choice: string, labels?: api.AnnotatedLabel[]) => {
    if (!region || isWorking.current) return;
    const { start, end, digest } = region;
    const isRepeated = region.state === "decided" && choice === region.choice && choice !== "edited";
    if (isRepeated && reason.trim() === region.reason) {
      setMode("");
      return setStatus(`Already decided: ${describeChoice(choice)}.`);
    }
    const decision: api.Decision = { id: createId(), start, end, digest, choice, ...(labels && { labels }) };
    if (reason.trim() && choice !== "open") decision.reason = reason.trim();
    await submit(decision);
  };
  const submit = async (decision: api.Decision, isReason = false): Promise<void> => {
    isWorking.current = true;
    try {
      const response = await sendDecision(name, decision);
      const newRegions = response.regions;
      onChange(response);
      setFailure(null);
      setMode("");
      const isComplete = newRegions.every(({ state }) => state === "decided");
      const text = isReason ? "Reason saved." : `Decided: ${describeChoice(decision.choice)}.`;
      if (decision.choice === "open") setStatus("Reopened.");
      else setStatus(isComplete ? `${text} All regions are decided. Press Enter to go on.` : text);
      if (decision.choice !== "open" && !isReason) {
        const order = newRegions.map((_, step) => (position + 1 + step) % newRegions.length);
        setPosition(
          order.find((item) => newRegions[item].state === "open") ?? Math.min(position, newRegions.length - 1),
        );
      }
    } catch (error) {
      if (error instanceof ApiError && error.error === "unauthorised") return onSessionEnd(error.message);
      if (error instanceof ApiError && error.error === "stale") {
        onChange(await onReload());
        setMode("");
        setStatus("The labels changed in the meantime. Decide again.");
      } else setFailure({ message: (error as Error).message, retry: () => void submit(decision, isReason) });
    } finally {
      isWorking.current = false;
    }
  };

  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (mode === "history" && event.key === "Escape") return setMode("");
      if (event.key === "Enter" && /^(BUTTON|A|SUMMARY)$/.test(target.tagName)) return;
      if (
        (mode && mode !== "history") ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.isComposing ||
        event.repeat
      )
        return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      const version = region?.versions[Number(event.key) - 1];
      const action = version
        ? () => decide(version.annotator)
        : {
            "0": () => decide("none"),
            e: () => region && setMode("edit"),
            r: () => region && setMode("reason"),
            h: () => region && setMode(mode === "history" ? "" : "history"),
            u: () => region?.state === "decided" && decide("open"),
            n: goForward,
            Enter: goToOpen,
            "?": () => setMode("help"),
            p: () => goTo(position - 1),
            ArrowRight: () => goTo(position + 1),
            ArrowLeft: () => goTo(position - 1),
          }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!action) return;
      event.preventDefault();
      void action();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  });

  const getEntity = (id: string): Entity =>
    adjudication.entities[id] ?? { id, name: null, description: null, types: [], link: null };
  const bar = (
    <div class="document-bar">
      <h1 dir="auto">{adjudication.document}</h1>
      <p class="quiet counts">
        {openCount} open · {regions.length - openCount} decided · {adjudication.agreed} agreed
      </p>
      {mode !== "edit" && (
        <div class="document-actions">
          <KeyButton shortcut="?" onClick={() => setMode("help")}>
            Keys
          </KeyButton>
          {openCount === 0 && (
            <KeyButton shortcut="Enter" className="main" onClick={() => void goToNextDocument()}>
              Next document
            </KeyButton>
          )}
        </div>
      )}
    </div>
  );
  if (region && mode === "edit")
    return (
      <RegionEditor
        key={region.digest}
        project={project}
        adjudication={adjudication}
        region={region}
        index={index}
        onSave={(labels) => (labels.length ? decide("edited", labels) : decide("none"))}
        onCancel={() => setMode("")}
      >
        {bar}
        {failure && <FailureNotice {...failure} />}
      </RegionEditor>
    );
  return (
    <>
      <div class="work">
        {bar}
        {failure && <FailureNotice {...failure} />}
        {!region && <p class="summary">The annotators agree in this document. There is nothing to decide.</p>}
        {region && (
          <>
            <Context index={index} region={region} gold={adjudication.gold} getEntity={getEntity} />
            <Versions project={project} region={region} index={index} getEntity={getEntity} onDecide={decide} />
            {region.state === "decided" && (
              <p class="decided">
                Decided: {describeChoice(region.choice ?? "")}.
                {region.reason && <span dir="auto"> {region.reason}</span>}
              </p>
            )}
            {mode === "reason" ? (
              <ReasonForm reason={reason} onSave={(text) => void saveReason(text)} onCancel={() => setMode("")} />
            ) : (
              reason && (
                <p class="reason-text" dir="auto">
                  Reason: {reason}
                </p>
              )
            )}
            <div class="others">
              <KeyButton shortcut="0" onClick={() => void decide("none")}>
                No label
              </KeyButton>
              <KeyButton shortcut="E" onClick={() => setMode("edit")}>
                Edit
              </KeyButton>
              <KeyButton shortcut="R" onClick={() => setMode("reason")}>
                Reason
              </KeyButton>
              <KeyButton shortcut="U" onClick={() => void decide("open")} isDisabled={region.state !== "decided"}>
                Reopen
              </KeyButton>
              <KeyButton
                shortcut="H"
                isPressed={mode === "history"}
                onClick={() => setMode(mode === "history" ? "" : "history")}
              >
                History
              </KeyButton>
              <KeyButton shortcut="P" onClick={() => goTo(position - 1)}>
                Previous
              </KeyButton>
              <KeyButton shortcut="N" onClick={() => void goForward()}>
                Next
              </KeyButton>
            </div>
          </>
        )}
        {region && mode === "history" && (
          <section aria-label="History of the region" class="region-history">
            <History
              key={`${region.start} ${region.digest}`}
              load={() => loadRegionHistory(name, region)}
              getSurface={({ start, end }) => index.slice(start, end)}
              scheme={project.scheme}
              getEntity={getEntity}
            />
          </section>
        )}
        <p class="quiet status" role="status">
          <StatusText text={status} />
        </p>
      </div>
      <aside class="side" aria-label="Regions and guidelines">
        {mode === "help" && <KeyHelp rows={KEYS} onClose={() => setMode("")} />}
        <ol class="region-list" aria-label="Regions">
          {regions.map((item, itemIndex) => (
            <li key={`${item.start} ${item.end}`}>
              <button
                type="button"
                aria-current={itemIndex === position ? "true" : undefined}
                onClick={() => goTo(itemIndex)}
              >
                <span aria-hidden="true">{item.state === "decided" ? "✓" : "○"}</span>{" "}
                <span dir="auto">{index.slice(item.start, Math.min(item.end, item.start + 60))}</span>
                <span class="unseen"> ({item.state})</span>
              </button>
            </li>
          ))}
        </ol>
        <ProjectGuidelines project={project} version={project.guidelines.length - 1} />
      </aside>
    </>
  );
}

/** Load the changes of all labels that touch a region. */
async function loadRegionHistory(name: string, { start, end }: api.Region): Promise<api.HistoryEntry[]> {
  const touches = (state: api.HistoryEntry["after"]) => !!state && state.label.start < end && state.label.end > start;
  return (await loadHistory(name)).filter(({ before, after }) => touches(before) || touches(after));
}

/** List the labels that a decision put into a region. */
const listDecidedLabels = ({ gold }: api.Adjudication, { start, end }: api.Region): api.AnnotatedLabel[] =>
  gold
    .filter(({ label }) => label.start >= start && label.end <= end)
    .map(({ label, note }) => ({ label, ...(note && { note }) }));

const describeChoice = (choice: string): string =>
  ({ none: "no label", edited: "edited", open: "open" })[choice] ?? `version ${choice}`;

/** The region in its context, with the labels on which annotators agree or that are decided. */
function Context({
  index,
  region,
  gold,
  getEntity,
}: {
  index: TextIndex;
  region: api.Region;
  gold: readonly api.AnnotatedLabel[];
  getEntity: (id: string) => Entity;
}) {
  const [start, end] = [
    Math.max(0, region.start - CONTEXT_LENGTH),
    Math.min(index.length, region.end + CONTEXT_LENGTH),
  ];
  const borders = new Set([start, region.start, region.end, end]);
  const labels = gold.map(({ label }) => label).filter((label) => label.start < end && label.end > start);
  for (const label of labels) {
    borders.add(Math.max(start, label.start));
    borders.add(Math.min(end, label.end));
  }
  const offsets = [...borders].sort((a, b) => a - b);
  return (
    <p class="document passage" dir="auto" id="passage">
      {start > 0 && "… "}
      {offsets.slice(1).map((partEnd, position) => {
        const partStart = offsets[position];
        const text = index.slice(partStart, partEnd);
        if (partStart >= region.start && partEnd <= region.end)
          return (
            <mark key={partStart} class="now">
              {text}
            </mark>
          );
        const targets = labels
          .filter((label) => label.start <= partStart && label.end >= partEnd)
          .map((label) => describeTarget(label, getEntity));
        return (
          <span key={partStart} class={targets.length ? "gold" : undefined} title={targets.join(", ") || undefined}>
            {text}
          </span>
        );
      })}
      {end < index.length && " …"}
    </p>
  );
}

/** Describe a label without the names of its ids, to find labels that all versions have. */
const labelKey = ({ label }: api.AnnotatedLabel): string => {
  const { mention_id: _mention, parent, ...fields } = cleanLabel(label);
  return JSON.stringify([Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)), parent !== undefined]);
};

function Versions({
  project,
  region,
  index,
  getEntity,
  onDecide,
}: {
  project: api.Project;
  region: api.Region;
  index: TextIndex;
  getEntity: (id: string) => Entity;
  onDecide: (choice: string) => Promise<void>;
}) {
  const keys = region.versions.map(({ labels }) => new Set(labels.map(labelKey)));
  const isShared = (label: api.AnnotatedLabel) => keys.every((versionKeys) => versionKeys.has(labelKey(label)));
  return (
    <div class="versions">
      {region.versions.map(({ annotator, labels }, versionIndex) => (
        <section
          key={annotator}
          aria-label={`Version ${annotator}`}
          class={region.choice === annotator ? "adopted" : ""}
        >
          <KeyButton
            shortcut={String(versionIndex + 1)}
            className="main"
            isPressed={region.choice === annotator}
            onClick={() => void onDecide(annotator)}
          >
            Version {annotator}
          </KeyButton>
          {labels.length ? (
            <LabelGroups
              labels={labels}
              isShared={isShared}
              getSurface={({ start, end }) => index.slice(start, end)}
              scheme={project.scheme}
              getEntity={getEntity}
            />
          ) : (
            <p class="quiet">No label</p>
          )}
        </section>
      ))}
    </div>
  );
}

function ReasonForm({
  reason,
  onSave,
  onCancel,
}: {
  reason: string;
  onSave: (reason: string) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState(reason);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const handleKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter" && !event.shiftKey) onSave(text.trim());
    else return;
    event.preventDefault();
  };
  return (
    <form
      class="panel-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(text.trim());
      }}
    >
      <label class="field">
        Reason, which the annotators see
        <textarea
          ref={field}
          value={text}
          rows={2}
          dir="auto"
          maxLength={2000}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={handleKey}
        />
      </label>
      <p class="small">
        <button type="submit">
          Save <kbd aria-hidden="true">Enter</kbd>
        </button>{" "}
        <button type="button" onClick={onCancel}>
          Cancel <kbd aria-hidden="true">Esc</kbd>
        </button>
      </p>
    </form>
  );
}

/** Edit the labels of a region: one version as labels, those of the others as suggestions. */
function RegionEditor({
  project,
  adjudication,
  region,
  index,
  onSave,
  onCancel,
  children,
}: {
  project: api.Project;
  adjudication: api.Adjudication;
  region: api.Region;
  index: TextIndex;
  onSave: (labels: api.AnnotatedLabel[]) => void;
  onCancel: () => void;
  children: ComponentChildren;
}) {
  const editor = useMemo(() => {
    const longest = [...region.versions].sort((a, b) => b.labels.length - a.labels.length)[0];
    const labels = region.state === "decided" ? listDecidedLabels(adjudication, region) : longest.labels;
    const knownKeys = new Set(labels.map(labelKey));
    const suggestions = region.versions
      .flatMap((version) => version.labels)
      .filter((item) => !knownKeys.has(labelKey(item)) && knownKeys.add(labelKey(item)));
    return new Editor(project, {
      ...adjudication,
      labels: labels.map(({ label, note }, position) => ({ label, note, id: `l${position}` })),
      // Ids of other versions mean other mentions.
      suggestions: suggestions.map(({ label: { mention_id: _mention, parent: _parent, ...label } }, position) => ({
        id: `s${position}`,
        label,
      })),
      rejected: [],
      findings: [],
      state: "open",
      revision: 0,
      can_undo: false,
      can_redo: false,
      guidelines: 0,
      changed: [],
    });
  }, []);
  const save = () => onSave(editor.getLabels());
  useEditorKeys(editor, save);
  useEffect(() => {
    const mark = editor.document.getMarks(region.start, region.end)[0];
    if (mark) editor.selectMark(mark);
    else editor.setCursor(region.start, region.end);
    editor.focusText();
    let isWarned = false;
    const handleEscape = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || editor.panel.peek() || editor.spanRequest.peek()) return;
      if (!editor.canUndo.peek() || isWarned) return onCancel();
      isWarned = true;
      editor.say("Escape again discards your changes.");
    };
    // Before the keys of the editor, which close panels first.
    addEventListener("keydown", handleEscape, true);
    return () => removeEventListener("keydown", handleEscape, true);
  }, []);
  const first = index.getParagraph(Math.max(0, region.start - CONTEXT_LENGTH));
  const last = index.getParagraph(region.end + CONTEXT_LENGTH);
  const text = useMemo(() => <TextView editor={editor} label="Text of the region" paragraphs={[first, last]} />, []);
  return (
    <>
      <div class="work">
        {children}
        {text}
        <p class="others">
          <KeyButton shortcut="Ctrl+Enter" className="main" onClick={save}>
            Save decision
          </KeyButton>
          <KeyButton shortcut="Esc" onClick={onCancel}>
            Cancel
          </KeyButton>
        </p>
      </div>
      <aside class="side" aria-label="Label and guidelines">
        <SidePanel editor={editor} document={adjudication.name} />
        <ProjectGuidelines project={project} version={project.guidelines.length - 1} />
      </aside>
    </>
  );
}

// The annotation page: a text, its labels, and a card with what can be done.
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Guidelines, KeyButton } from "../common/components";
import type * as api from "./api";
import { loadDocument, loadFindings } from "./api";
import { Card, cancelSpan } from "./card";
import { Editor, isolate } from "./editor";
import { handleTextKey } from "./keys";
import { type Outbox, openOutbox, sendStoredOperations } from "./outbox";
import { PanelView } from "./panels";
import { LoadFailure, type PageProps, StatusText } from "./shell";
import { TextView } from "./text-view";

const FINDING_DELAY_MS = 800;

interface Session {
  payload: api.DocumentPayload;
  editor: Editor;
  outbox: Outbox;
}

export function AnnotatePage({
  project,
  owner,
  name,
  onSessionEnd,
  onFinish,
}: PageProps & { owner: string; name: string; onFinish: (message: string) => void }) {
  const [session, setSession] = useState<Session | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isActive = true;
    let outbox: Outbox | undefined;
    let findings: FindingLoader;
    const openDocument = async () => {
      const message = await sendStoredOperations(owner);
      const payload = await loadDocument(name);
      if (!isActive) return;
      const editor = new Editor(project, payload);
      editor.notice.value = message;
      findings = new FindingLoader(editor, name);
      const queue = openOutbox(owner, payload, {
        onReceipt: (operation, receipt) => {
          editor.receive(operation, receipt, queue.size.peek() === 0);
          if (receipt.findings === null) findings.schedule();
          if (operation.action === "finish") {
            const openCount = editor.countOpenSuggestions();
            const openText = openCount ? ` Suggestions without a decision: ${openCount}.` : "";
            onFinish(`${isolate(payload.document)} is finished.${openText}`);
          }
          if (operation.action === "skip")
            onFinish(`${isolate(payload.document)} is skipped. Another annotator will get it.`);
          if (operation.action === "reopen") editor.say("Reopened.");
        },
        onReload: (reloaded, remaining, text) => {
          editor.load(reloaded, remaining);
          editor.notice.value = text;
        },
        onSessionEnd,
      });
      outbox = queue;
      editor.connect(queue);
      setSession({ payload, editor, outbox: queue });
    };
    openDocument().catch((error) => isActive && setFailure(error));
    return () => {
      isActive = false;
      outbox?.close();
      findings?.cancel();
    };
  }, [name, attempt]);
  if (failure)
    return (
      <LoadFailure
        error={failure}
        onSessionEnd={onSessionEnd}
        onRetry={() => {
          setFailure(null);
          setAttempt(attempt + 1);
        }}
      />
    );
  if (!session)
    return (
      <main class="annotate">
        <p class="quiet" role="status">
          Loading …
        </p>
      </main>
    );
  return <Workspace key={name} {...session} />;
}

/** Load the findings of a large document when the annotator pauses. */
class FindingLoader {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly editor: Editor,
    private readonly name: string,
  ) {}

  schedule() {
    this.cancel();
    this.timer = setTimeout(
      () =>
        loadFindings(this.name).then(
          ({ findings }) => this.editor.document.setFindings(findings),
          () => {}, // the next change asks again
        ),
      FINDING_DELAY_MS,
    );
  }

  cancel() {
    clearTimeout(this.timer);
  }
}

function Workspace({ payload, editor, outbox }: Session) {
  useEffect(() => {
    document.title = `${payload.document} · ${editor.project.name}`;
    editor.focusText();
    const mark = editor.document.marks.find(({ isSuggestion }) => isSuggestion);
    if (mark && editor.state.peek() === "open") editor.selectMark(mark);
    else editor.setCursor(editor.cursor.peek().start, editor.cursor.peek().end);
  }, [editor]);
  const finish = () => editor.finish();
  useEditorKeys(editor, finish);
  const text = useMemo(() => <TextView editor={editor} label={`Text of ${payload.document}`} />, [editor]);
  return (
    <main class="annotate">
      <div class="work">
        <DocumentBar payload={payload} editor={editor} outbox={outbox} onFinish={finish} />
        <Notices editor={editor} outbox={outbox} changed={payload.changed} />
        {text}
      </div>
      <aside class="side" aria-label="Label and guidelines">
        <SidePanel editor={editor} document={payload.name} />
        <Findings editor={editor} />
        <ProjectGuidelines project={editor.project} version={payload.guidelines} />
      </aside>
    </main>
  );
}

/** Let the keys of the text act on an editor while no field has the focus. */
export function useEditorKeys(editor: Editor, onFinish: () => void): void {
  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      editor.noteActivity();
      if (event.isComposing || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      const isField = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      if (event.key === "Escape") {
        if (editor.panel.peek()) editor.closePanel();
        else if (editor.spanRequest.peek()) cancelSpan(editor);
        else editor.focusText();
        return event.preventDefault();
      }
      if (isField || editor.panel.peek()) return;
      const isControl = /^(BUTTON|A|SUMMARY)$/.test(target.tagName);
      if (isControl && !event.ctrlKey && /^(Enter| )$/.test(event.key)) return;
      if (handleTextKey(editor, event, onFinish)) event.preventDefault();
    };
    const noteActivity = () => editor.noteActivity();
    addEventListener("keydown", handleKey);
    addEventListener("pointermove", noteActivity);
    return () => {
      removeEventListener("keydown", handleKey);
      removeEventListener("pointermove", noteActivity);
    };
  }, [editor]);
}

/** The panel that is open, or the card of the current span, and the last message. */
export function SidePanel({ editor, document }: { editor: Editor; document: string }) {
  const panel = editor.panel.value;
  return (
    <div class="panel">
      {panel ? <PanelView editor={editor} panel={panel} document={document} /> : <Card editor={editor} />}
      <p class="quiet status" role="status" id="annotation-status">
        <StatusText text={editor.status.value} />
      </p>
      <p class="unseen" role="status">
        <StatusText text={editor.spokenText.value} />
      </p>
    </div>
  );
}

function DocumentBar({ payload, editor, outbox, onFinish }: Session & { onFinish: () => void }) {
  editor.document.version.value; // counts change with labels
  const state = editor.state.value;
  const openCount = editor.countOpenSuggestions();
  const labelCount = editor.document.marks.length - openCount;
  const runAction = (action: () => void) => () => {
    action();
    editor.focusText();
  };
  return (
    <div class="document-bar">
      <h1 dir="auto">{payload.document}</h1>
      <p class="quiet counts">
        {labelCount === 1 ? "1 label" : `${labelCount} labels`}
        {openCount > 0 && ` · ${openCount} open ${openCount === 1 ? "suggestion" : "suggestions"}`} ·{" "}
        <SaveState outbox={outbox} />
      </p>
      <div class="document-actions">
        <KeyButton
          shortcut="U"
          onClick={runAction(() => editor.stepHistory("undo"))}
          isDisabled={!editor.canUndo.value || state !== "open"}
        >
          Undo
        </KeyButton>
        <KeyButton
          shortcut="Y"
          onClick={runAction(() => editor.stepHistory("redo"))}
          isDisabled={!editor.canRedo.value || state !== "open"}
        >
          Redo
        </KeyButton>
        <KeyButton shortcut="?" onClick={() => editor.openPanel({ kind: "help" })}>
          Keys
        </KeyButton>
        {state === "open" ? (
          <>
            <button type="button" onClick={() => editor.openPanel({ kind: "skip" })}>
              Skip
            </button>
            <KeyButton shortcut="Ctrl+Enter" className="main" onClick={onFinish}>
              Finish
            </KeyButton>
          </>
        ) : (
          <>
            <span class="badge">{state === "done" ? "Finished" : "Skipped"}</span>
            <button type="button" class="main" onClick={runAction(() => editor.changeState("reopen"))}>
              Reopen
            </button>
          </>
        )}
      </div>
    </div>
  );
}

function SaveState({ outbox }: { outbox: Outbox }) {
  const size = outbox.size.value;
  return (
    <span class="save-state">
      {size === 0 ? "saved" : size === 1 ? "saving 1 change …" : `saving ${size} changes …`}
    </span>
  );
}

function Notices({
  editor,
  outbox,
  changed,
}: {
  editor: Editor;
  outbox: Outbox;
  changed: readonly api.ChangedRegion[];
}) {
  const failure = outbox.failure.value;
  const notice = editor.notice.value;
  return (
    <>
      <div role="alert">
        {failure && (
          <div class="missing">
            <p>
              {failure} {outbox.size.value === 1 ? "1 change is" : `${outbox.size.value} changes are`} kept in this
              browser and will be sent again. You can go on.
            </p>
            <button type="button" onClick={outbox.retry}>
              Try again
            </button>
          </div>
        )}
        {notice && (
          <div class="missing">
            <p>{notice}</p>
            <button
              type="button"
              onClick={() => {
                editor.notice.value = "";
                editor.focusText();
              }}
            >
              Close
            </button>
          </div>
        )}
      </div>
      {changed.length > 0 && (
        <details class="changed" open>
          <summary>
            The adjudicator decided otherwise in {changed.length === 1 ? "one place" : `${changed.length} places`}
          </summary>
          <ol>
            {changed.map(({ start, end, reason }) => (
              <li key={`${start} ${end}`}>
                <button
                  type="button"
                  dir="auto"
                  onClick={() => {
                    editor.setCursor(start, end);
                    editor.focusText();
                  }}
                >
                  {editor.document.index.slice(start, end)}
                </button>
                {reason && <span dir="auto"> {reason}</span>}
              </li>
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

function Findings({ editor }: { editor: Editor }) {
  const findings = editor.document.findings.value;
  if (!findings.length) return null;
  return (
    <details class="finding-list">
      <summary>
        Findings <b>{findings.length}</b>
      </summary>
      <ul>
        {findings.slice(0, 200).map(({ rule, start, end, description, proposal }, index) => (
          <li key={index}>
            {start !== null && end !== null && (
              <button
                type="button"
                dir="auto"
                title={rule}
                onClick={() => {
                  editor.setCursor(start, end);
                  editor.focusText();
                }}
              >
                {editor.document.index.slice(start, end)}
              </button>
            )}{" "}
            <span>{description}</span> {proposal && <span class="quiet">{proposal}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function ProjectGuidelines({ project, version }: { project: api.Project; version: number }) {
  const guidelines = project.guidelines[version] ?? project.guidelines.at(-1);
  if (!guidelines) return null;
  return (
    <div class="guidelines">
      <Guidelines text={guidelines.text} />
    </div>
  );
}

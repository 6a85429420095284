// The card beside the text: the current span or label, its findings, and what can be done.
import { EntityDescription, KeyButton } from "../common/components";
import { describeTarget, type Editor } from "./editor";
import { listCommands } from "./keys";
import { LabelSummary, listAttributes } from "./label-summary";
import type { Mark } from "./labels";

const NEW_KEYS = ["Enter", "0", "Q", "D", "C"];
const SUGGESTION_KEYS = ["Enter", "X", "L", "0", "Q", "D", "A", "O"];
const LABEL_KEYS = ["L", "0", "Q", "D", "C", "O", "A", "S", "W", "E", "T", "F", "M", "R", "X", "H"];
const SHORT_NAMES: Readonly<Record<string, string>> = {
  "0": "NIL",
  L: "Link",
  A: "Alternative entity",
  W: "Parts",
  F: "Categories",
  R: "Repeat",
  X: "Delete",
  H: "History",
};
const SUGGESTION_NAMES: Readonly<Record<string, string>> = { Enter: "Accept", X: "Reject", L: "Other entity" };

function CommandButtons({ editor, keys, names }: { editor: Editor; keys: string[]; names: Record<string, string> }) {
  const allCommands = listCommands(editor.project, editor.hasServer);
  const commands = keys
    .map((key) => allCommands.find(({ title }) => title === key))
    .filter((command) => command !== undefined);
  return (
    <div class="commands" role="group" aria-label="Actions">
      {commands.map(({ title, description, run }) => (
        <KeyButton
          key={title}
          shortcut={title}
          className={title === "Enter" ? "main" : undefined}
          onClick={() => {
            editor.focusText();
            run(editor);
          }}
        >
          {names[title] ?? description}
        </KeyButton>
      ))}
    </div>
  );
}

export function Card({ editor }: { editor: Editor }) {
  editor.document.version.value; // draw again when labels change
  const mark = editor.current;
  const surface = editor.surface.replace(/\s+/g, " ");
  const request = editor.spanRequest.value;
  if (request)
    return (
      <section class="card-body" aria-label="Span">
        <h2 dir="auto">{surface}</h2>
        <p>
          {
            {
              alternative: "Mark the alternative span, then press Enter.",
              move: "Mark the new span, then press Enter.",
              part: "Mark each required part and press Enter. Escape ends.",
            }[request.purpose]
          }
        </p>
        <div class="commands">
          <KeyButton shortcut="Enter" className="main" onClick={() => editor.confirm()}>
            Use this span
          </KeyButton>
          <KeyButton shortcut="Esc" onClick={() => cancelSpan(editor)}>
            {request.purpose === "part" ? "End" : "Cancel"}
          </KeyButton>
        </div>
      </section>
    );
  if (!mark)
    return (
      <section class="card-body" aria-label="Span">
        <h2 dir="auto">{surface}</h2>
        <p class="quiet">Not labelled.</p>
        {!editor.isReadOnly && <CommandButtons editor={editor} keys={NEW_KEYS} names={{ Enter: "Link", "0": "NIL" }} />}
        <p class="quiet small hint">
          <kbd>Shift</kbd> <kbd>→</kbd> longer span · <kbd>J</kbd> next name · <kbd>N</kbd> <kbd>P</kbd> mentions
        </p>
      </section>
    );
  return <LabelCard editor={editor} mark={mark} surface={surface} />;
}

export function cancelSpan(editor: Editor): void {
  const request = editor.spanRequest.peek();
  editor.spanRequest.value = null;
  const mark = editor.document.getMark(request?.id ?? null);
  if (mark) editor.selectMark(mark);
  editor.focusText();
}

function LabelCard({ editor, mark, surface }: { editor: Editor; mark: Mark; surface: string }) {
  const { label } = mark;
  const { document, project } = editor;
  const getEntity = (id: string) => document.getEntity(id);
  const { alternatives, parts, whole } = document.getRelatives(mark);
  const others = document
    .getMarksAt(label.start, label.end)
    .filter((other) => other.id !== mark.id && !alternatives.includes(other));
  const attributes = listAttributes(label, project.scheme);
  const findings = document.getFindings(mark);
  const relatives: [string, Mark[]][] = [
    ["Alternatives", alternatives],
    ["Parts", parts],
    ["Part of", whole ? [whole] : []],
    ["On the same text", others],
  ];
  return (
    <section class="card-body" aria-label={mark.isSuggestion ? "Suggestion" : "Label"}>
      <h2>
        <span class="surface" dir="auto">
          {surface}
        </span>{" "}
        <span class="arrow" role="img" aria-label="is linked to">
          →
        </span>{" "}
        <span dir="auto">{describeTarget(label, getEntity)}</span>
      </h2>
      {mark.isSuggestion && <p class="badge">Suggestion</p>}
      {typeof label.entity === "string" && <EntityDescription entity={getEntity(label.entity)} />}
      {attributes.length > 0 && (
        <ul class="attributes" aria-label="Attributes">
          {attributes.map((attribute) => (
            <li key={attribute} dir="auto">
              {attribute}
            </li>
          ))}
        </ul>
      )}
      {mark.note && (
        <p class="note" dir="auto">
          {mark.note}
        </p>
      )}
      {[...new Set(findings.map(({ rule }) => rule))].map((rule) => {
        const items = findings.filter((finding) => finding.rule === rule);
        return (
          <p key={rule} class="finding-text">
            {items.map(({ description }) => description).join(", ")}
            {". "}
            <span class="quiet">{[...new Set(items.map(({ proposal }) => proposal))].filter(Boolean).join(", ")}</span>
          </p>
        );
      })}
      {relatives.map(
        ([title, marks]) =>
          marks.length > 0 && (
            <div key={title} class="relatives">
              <h3>{title}</h3>
              <ul>
                {marks.map((other) => (
                  <li key={other.id}>
                    <button
                      type="button"
                      onClick={() => {
                        editor.selectMark(other);
                        editor.focusText();
                      }}
                    >
                      <LabelSummary
                        isSuggestion={other.isSuggestion}
                        label={other.label}
                        note={other.note}
                        surface={
                          other.label.start !== label.start || other.label.end !== label.end
                            ? document.getSurface(other.label)
                            : undefined
                        }
                        scheme={project.scheme}
                        getEntity={getEntity}
                      />
                    </button>
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
      {!editor.isReadOnly && (
        <CommandButtons
          editor={editor}
          keys={mark.isSuggestion ? SUGGESTION_KEYS : LABEL_KEYS}
          names={mark.isSuggestion ? { ...SHORT_NAMES, ...SUGGESTION_NAMES } : SHORT_NAMES}
        />
      )}
    </section>
  );
}

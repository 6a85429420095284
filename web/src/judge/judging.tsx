// The judging page: the passage, the current link and the decisions.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { EntityDescription, entityName, FailureNotice, Guidelines, KeyButton, SkipForm } from "../common/components";
import { createId } from "../common/http";
import { EntitySearch } from "../common/search";
import { AddLinkForm } from "./add-link";
import * as api from "./api";
import { LinkList, OUTCOMES, Passage } from "./passage";
import { LinkOptions } from "./survey";

type Panel = "" | "modify" | "skip" | "add";

const QUESTIONS = {
  verify: "Does the highlighted text refer to this entity?",
  survey: "Which links should the highlighted text have?",
};

const REASONS = [
  "The passage does not make clear which entity is meant",
  "I do not know enough about the subject",
  "I cannot read the language",
  "The text is damaged",
];

const findOpenLink = (task: api.Task): number =>
  Math.max(
    0,
    task.links.findIndex((link) => link.decision === null),
  );

export function JudgingPage({
  campaign,
  onSessionEnd,
  onComplete,
}: {
  campaign: api.Campaign;
  onSessionEnd: (message: string) => void;
  onComplete: (progress: api.Progress) => void;
}) {
  const [view, setView] = useState<{ task: api.Task; linkIndex: number; progress: api.Progress } | null>(null);
  const [panel, setPanel] = useState<Panel>("");
  const [status, setStatus] = useState("");
  const [failure, setFailure] = useState<{ message: string; retry: () => void } | null>(null);
  const recordIds = useRef<string[]>([]); // for undo, the latest last
  const [isBusy, setBusy] = useState(false);
  const isWorking = useRef(false); // ignores keys while a request is pending
  const startTime = useRef(performance.now());

  /** Run one action at a time, and offer a retry if it fails. */
  const runAction = async (action: () => Promise<void>) => {
    if (isWorking.current) return;
    isWorking.current = true;
    setBusy(true);
    try {
      await action();
      setFailure(null);
    } catch (error) {
      if (error instanceof api.ApiError && error.error === "unauthorised") return onSessionEnd(error.message);
      setFailure({ message: (error as Error).message, retry: () => runAction(action) });
    } finally {
      isWorking.current = false;
      setBusy(false);
    }
  };
  const showLink = (task: api.Task, linkIndex: number, progress: api.Progress) => {
    startTime.current = performance.now();
    setPanel("");
    setView({ task, linkIndex, progress });
  };
  const loadNextTask = async () => {
    const response = await api.loadTask();
    if (response.task) showLink(response.task, findOpenLink(response.task), response.progress);
    else onComplete(response.progress);
  };
  useEffect(() => void runAction(loadNextTask), []);

  const sendDecision = (decision: string, details: { becomes?: api.Entity; chosen?: string[] } = {}) => {
    if (!view) return;
    const { task, linkIndex } = view;
    const judgement: api.Judgement = {
      id: createId(),
      link: linkIndex,
      decision,
      seconds: Math.round(performance.now() - startTime.current) / 1000,
      client_time: new Date().toISOString(),
      ...(details.becomes && { becomes: details.becomes.id }),
      ...(details.chosen && { chosen: details.chosen }),
    };
    return runAction(async () => {
      const receipt = await api.sendJudgement(task.task, judgement);
      recordIds.current.push(receipt.id);
      const record: api.DecisionRecord = {
        id: receipt.id,
        decision: receipt.decision,
        replacement: details.becomes ?? null,
        selected: details.chosen ?? [],
      };
      const links = task.links.map((link, index) => (index === linkIndex ? { ...link, decision: record } : link));
      const nextIndex = [...links.keys()]
        .map((step) => (linkIndex + 1 + step) % links.length)
        .find((index) => links[index].decision === null);
      setStatus(
        `${links[linkIndex].surface}: ${OUTCOMES[receipt.decision]?.[0] ?? receipt.decision}` +
          `${receipt.is_late ? ", too late: another judge has the task" : ""}.`,
      );
      if (nextIndex === undefined) await loadNextTask();
      else showLink({ ...task, links }, nextIndex, receipt.progress);
    });
  };
  const undoLast = () =>
    runAction(async () => {
      const lastId =
        recordIds.current.at(-1) ??
        view?.task.links.map((link) => link.decision?.id).findLast((id) => id !== undefined);
      if (lastId === undefined) return setStatus("Nothing to undo.");
      await api.undoJudgement(lastId);
      recordIds.current = recordIds.current.filter((id) => id !== lastId);
      setStatus("Undone.");
      await loadNextTask();
    });
  const skipTask = (reason: string) =>
    view &&
    runAction(async () => {
      recordIds.current.push((await api.skipTask(view.task.task, reason)).id);
      setStatus("Skipped. Another judge will get this task.");
      await loadNextTask();
    });
  const addLink = (start: number, end: number, entity: api.Entity) =>
    view &&
    runAction(async () => {
      const judgement = {
        id: createId(),
        link: -1,
        decision: "add",
        becomes: entity.id,
        start,
        end,
        seconds: Math.round(performance.now() - startTime.current) / 1000,
        client_time: new Date().toISOString(),
      };
      recordIds.current.push((await api.sendJudgement(view.task.task, judgement)).id);
      setStatus("Added.");
      await loadNextTask();
    });
  const moveLink = (delta: number) =>
    view &&
    showLink(view.task, (view.linkIndex + delta + view.task.links.length) % view.task.links.length, view.progress);

  const isSurvey = campaign.kind === "survey";
  // Synchronous, so that a key never acts on the previous link.
  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
      if (event.key === "Escape" && panel) return setPanel("");
      if (panel || /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)) return;
      const action: (() => void) | undefined =
        failure && event.key === "Enter"
          ? failure.retry
          : {
              ...(isSurvey
                ? {}
                : { v: () => sendDecision("verify"), m: () => setPanel("modify"), r: () => sendDecision("remove") }),
              ...(campaign.additions ? { a: () => setPanel("add") } : {}),
              s: () => setPanel("skip"),
              u: undoLast,
              ArrowRight: () => moveLink(1),
              ArrowLeft: () => moveLink(-1),
              n: () => moveLink(1),
              p: () => moveLink(-1),
            }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  });

  if (!view)
    return (
      <main class="judge">
        {failure ? (
          <FailureNotice {...failure} />
        ) : (
          <p class="quiet" role="status">
            Loading …
          </p>
        )}
      </main>
    );
  const { task, linkIndex, progress } = view;
  const link = task.links[linkIndex];
  const record = link?.decision;
  return (
    <>
      <header>
        <span class="name">{campaign.name}</span>
        <span class="progress">
          <label for="progress">
            {progress.batch === null
              ? `${progress.completed} tasks done`
              : `Task ${Math.min(progress.completed + 1, progress.batch)} of ${progress.batch}`}
          </label>
          {progress.batch !== null && <progress id="progress" value={progress.completed} max={progress.batch} />}
        </span>
        <button
          type="button"
          class="leave"
          onClick={() =>
            runAction(() =>
              api.endSession().then(() => onSessionEnd("You have signed out. Ask for a new invitation to continue.")),
            )
          }
        >
          Leave
        </button>
      </header>
      <main class="judge" aria-busy={isBusy}>
        <div class="work">
          <h1 class="question">{QUESTIONS[campaign.kind]}</h1>
          <Passage task={task} linkIndex={linkIndex} onSelect={(index) => showLink(task, index, progress)} />
          {task.links.length > 1 && (
            <LinkList task={task} linkIndex={linkIndex} onSelect={(index) => showLink(task, index, progress)} />
          )}
          {failure && <FailureNotice {...failure} />}
          {!isSurvey && link?.entity && (
            <section class="link" aria-label="Current link">
              <EntityDescription entity={link.entity}>
                <h2>
                  <span class="surface" dir="auto">
                    {link.surface}
                  </span>{" "}
                  <span class="arrow" role="img" aria-label="is linked to">
                    →
                  </span>{" "}
                  <span dir="auto">{entityName(link.entity)}</span>
                </h2>
              </EntityDescription>
            </section>
          )}
          {record && panel === "" && !isSurvey && (
            <p class={`decided ${record.decision}`}>
              You {OUTCOMES[record.decision]?.[0] ?? "judged"} this link
              {record.replacement && (
                <>
                  {" "}
                  to <b dir="auto">{entityName(record.replacement)}</b>
                </>
              )}
              . Decide again to change it.
            </p>
          )}
          {panel === "" && isSurvey && link && (
            <LinkOptions
              key={`${task.task} ${linkIndex}`}
              link={link}
              onSubmit={(chosen) => sendDecision("choose", { chosen })}
            />
          )}
          {panel === "" && !isSurvey && (
            <div class="decisions" role="group" aria-label="Decision">
              <KeyButton shortcut="V" className="main verify" onClick={() => sendDecision("verify")}>
                Verify
              </KeyButton>
              <KeyButton shortcut="M" className="main modify" onClick={() => setPanel("modify")}>
                Modify
              </KeyButton>
              <KeyButton shortcut="R" className="main remove" onClick={() => sendDecision("remove")}>
                Remove
              </KeyButton>
            </div>
          )}
          {panel === "" && (
            <div class="others">
              <KeyButton shortcut="U" onClick={undoLast}>
                Undo
              </KeyButton>
              <KeyButton shortcut="S" onClick={() => setPanel("skip")}>
                Skip task
              </KeyButton>
              {campaign.additions && (
                <KeyButton shortcut="A" onClick={() => setPanel("add")}>
                  Add a missing link
                </KeyButton>
              )}
              {task.links.length > 1 && (
                <span class="quiet hint">
                  <kbd>←</kbd> <kbd>→</kbd> other links
                </span>
              )}
            </div>
          )}
          {panel === "modify" && (
            <EntitySearch
              initialText={link.surface}
              hasSearch={campaign.search}
              label="Which entity does the highlighted text refer to?"
              onSelect={(becomes) => sendDecision("modify", { becomes })}
              onCancel={() => setPanel("")}
            />
          )}
          {panel === "skip" && (
            <SkipForm
              question="Why are you skipping this task?"
              reasons={REASONS}
              onSkip={skipTask}
              onCancel={() => setPanel("")}
            />
          )}
          {panel === "add" && (
            <AddLinkForm task={task} hasSearch={campaign.search} onAdd={addLink} onCancel={() => setPanel("")} />
          )}
          <p class="quiet status" role="status">
            {status}
          </p>
        </div>
        <aside class="guidelines" aria-label="Guidelines">
          <Guidelines text={campaign.guidelines} />
        </aside>
      </main>
    </>
  );
}

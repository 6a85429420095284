// One clear screen: the passage, the link that is judged, and what can be said of it.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { Addition } from "./addition";
import { About, Key, nameOf, Prose } from "./parts";
import { OUTCOMES, Passage, Places } from "./passage";
import { Search } from "./search";
import { Options } from "./survey";

type Panel = "" | "modify" | "skip" | "add";

const QUESTIONS = {
  verify: "Do the marked words name this entity here?",
  survey: "Which links should the marked words have here?",
};

const REASONS = ["The passage does not say which entity is meant", "I do not know enough about the subject", "I cannot read the language", "The text is damaged"];

const firstOpen = (task: api.Task): number => Math.max(0, task.links.findIndex((link) => link.decided === null));

export function Work({ campaign, onLost, onEnd }: { campaign: api.Campaign; onLost: (says: string) => void; onEnd: (progress: api.Progress) => void }) {
  const [now, set] = useState<{ task: api.Task; at: number; progress: api.Progress } | null>(null);
  const [panel, open] = useState<Panel>("");
  const [says, say] = useState("");
  const [trouble, fail] = useState<{ says: string; again: () => void } | null>(null);
  const made = useRef<string[]>([]); // records in the order in which they were made, for undo
  const [busy, wait] = useState(false);
  const working = useRef(false); // keys that come meanwhile are about what is not shown yet
  const since = useRef(performance.now());

  /** Do one thing at a time; what fails can be tried again, for the server takes nothing twice. */
  const doing = async (work: () => Promise<void>) => {
    if (working.current) return;
    working.current = true;
    wait(true);
    try {
      await work();
      fail(null);
    } catch (problem) {
      if (problem instanceof api.Refused && problem.error === "unauthorised") return onLost(problem.message);
      fail({ says: (problem as Error).message, again: () => doing(work) });
    } finally {
      working.current = false;
      wait(false);
    }
  };
  const goTo = (task: api.Task, at: number, progress: api.Progress) => {
    since.current = performance.now();
    open("");
    set({ task, at, progress });
  };
  const following = async () => {
    const found = await api.next();
    if (found.task) goTo(found.task, firstOpen(found.task), found.progress);
    else onEnd(found.progress);
  };
  useEffect(() => void doing(following), []);

  const decide = (decision: string, more: { becomes?: api.Entity; chosen?: string[] } = {}) => {
    if (!now) return;
    const { task, at } = now;
    const said: api.Said = {
      id: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`,
      link: at,
      decision,
      seconds: Math.round(performance.now() - since.current) / 1000,
      client_time: new Date().toISOString(),
      ...(more.becomes && { becomes: more.becomes.id }),
      ...(more.chosen && { chosen: more.chosen }),
    };
    return doing(async () => {
      const kept = await api.judge(task.task, said);
      made.current.push(kept.id);
      const decided = { id: kept.id, decision: kept.decision, becomes: more.becomes ?? null, chosen: more.chosen ?? [] };
      const links = task.links.map((link, place) => (place === at ? { ...link, decided } : link));
      const after = [...links.keys()].map((step) => (at + 1 + step) % links.length).find((place) => links[place].decided === null);
      say(`${links[at].surface}: ${OUTCOMES[kept.decision]?.[0] ?? kept.decision}${kept.late ? ", late: the task was given to somebody else" : ""}.`);
      if (after === undefined) await following();
      else goTo({ ...task, links }, after, kept.progress);
    });
  };
  const undo = () =>
    doing(async () => {
      const last = made.current.at(-1) ?? now?.task.links.map((link) => link.decided?.id).findLast((id) => id !== undefined);
      if (last === undefined) return say("There is nothing to undo.");
      await api.undo(last);
      made.current = made.current.filter((id) => id !== last);
      say("Undone.");
      await following();
    });
  const skip = (reason: string) =>
    now &&
    doing(async () => {
      made.current.push((await api.skip(now.task.task, reason)).id);
      say("Skipped. Somebody else gets it.");
      await following();
    });
  const add = (start: number, end: number, entity: api.Entity) =>
    now &&
    doing(async () => {
      const said = { id: crypto.randomUUID(), link: -1, decision: "add", becomes: entity.id, start, end, seconds: Math.round(performance.now() - since.current) / 1000, client_time: new Date().toISOString() };
      made.current.push((await api.judge(now.task.task, said)).id);
      say("Added.");
      await following();
    });
  const step = (by: number) => now && goTo(now.task, (now.at + by + now.task.links.length) % now.task.links.length, now.progress);

  const survey = campaign.kind === "survey";
  // At once: a key must never be about what was shown before.
  useLayoutEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
      if (event.key === "Escape" && panel) return open("");
      if (panel || /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)) return;
      const found: (() => void) | undefined = trouble && event.key === "Enter" ? trouble.again : {
        ...(survey ? {} : { v: () => decide("verify"), m: () => open("modify"), r: () => decide("remove") }),
        ...(campaign.additions ? { a: () => open("add") } : {}),
        s: () => open("skip"),
        u: undo,
        ArrowRight: () => step(1),
        ArrowLeft: () => step(-1),
        n: () => step(1),
        p: () => step(-1),
      }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!found) return;
      event.preventDefault();
      found();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });

  if (!now) return <main class="judge">{trouble ? <Trouble {...trouble} /> : <p class="quiet" role="status">Loading …</p>}</main>;
  const { task, at, progress } = now;
  const link = task.links[at];
  const decided = link?.decided;
  return (
    <>
      <header>
        <span class="name">{campaign.name}</span>
        <span class="progress">
          <label for="progress">{progress.batch === null ? `${progress.done} tasks done` : `Task ${Math.min(progress.done + 1, progress.batch)} of ${progress.batch}`}</label>
          {progress.batch !== null && <progress id="progress" value={progress.done} max={progress.batch} />}
        </span>
        <button type="button" class="leave" onClick={() => doing(() => api.leave().then(() => onLost("You have left. To go on, ask for a new invitation.")))}>Leave</button>
      </header>
      <main class="judge" aria-busy={busy}>
        <div class="work">
          <h1 class="question">{QUESTIONS[campaign.kind]}</h1>
          <Passage task={task} at={at} onChosen={(place) => goTo(task, place, progress)} />
          {task.links.length > 1 && <Places task={task} at={at} onChosen={(place) => goTo(task, place, progress)} />}
          {trouble && <Trouble {...trouble} />}
          {!survey && link?.entity && (
            <section class="link" aria-label="The link">
              <About entity={link.entity}>
                <h2><span class="surface" dir="auto">{link.surface}</span> <span class="arrow" aria-label="is linked to">→</span> <span dir="auto">{nameOf(link.entity)}</span></h2>
              </About>
            </section>
          )}
          {decided && panel === "" && !survey && (
            <p class={`decided ${decided.decision}`}>
              You {OUTCOMES[decided.decision]?.[0] ?? "judged"} this{decided.becomes && <>: it is <b dir="auto">{nameOf(decided.becomes)}</b></>}. Decide again to change it.
            </p>
          )}
          {panel === "" && survey && link && <Options key={`${task.task} ${at}`} link={link} onChosen={(chosen) => decide("choose", { chosen })} />}
          {panel === "" && !survey && (
            <div class="decisions" role="group" aria-label="Decision">
              <Key of="V" kind="main verify" onClick={() => decide("verify")}>Verify</Key>
              <Key of="M" kind="main modify" onClick={() => open("modify")}>Modify</Key>
              <Key of="R" kind="main remove" onClick={() => decide("remove")}>Remove</Key>
            </div>
          )}
          {panel === "" && (
            <div class="others">
              <Key of="U" onClick={undo}>Undo</Key>
              <Key of="S" onClick={() => open("skip")}>Skip task</Key>
              {campaign.additions && <Key of="A" onClick={() => open("add")}>Add a missing link</Key>}
              {task.links.length > 1 && <span class="quiet hint"><kbd>←</kbd> <kbd>→</kbd> other links</span>}
            </div>
          )}
          {panel === "modify" && <Search words={link.surface} search={campaign.search} label="Which entity do the marked words name?" onChosen={(becomes) => decide("modify", { becomes })} onLeft={() => open("")} />}
          {panel === "skip" && <Skip onChosen={skip} onLeft={() => open("")} />}
          {panel === "add" && <Addition task={task} search={campaign.search} onChosen={add} onLeft={() => open("")} />}
          <p class="quiet status" role="status">{says}</p>
        </div>
        <aside class="guidelines" aria-label="Guidelines">
          <Guidelines text={campaign.guidelines} />
        </aside>
      </main>
    </>
  );
}

function Trouble({ says, again }: { says: string; again: () => void }) {
  return <div class="missing" role="alert"><p>{says}</p><button type="button" onClick={again}>Try again</button></div>;
}

/** Open beside the task; on a phone below it, and closed. */
function Guidelines({ text }: { text: string }) {
  const [wide] = useState(matchMedia("(min-width: 901px)").matches);
  return <details open={wide}><summary>Guidelines</summary><Prose text={text} /></details>;
}

function Skip({ onChosen, onLeft }: { onChosen: (reason: string) => void; onLeft: () => void }) {
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  const sent = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    onChosen(String(form.get("more")).trim() || String(form.get("reason")));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || (event.target as HTMLElement).tagName !== "INPUT") return;
    event.preventDefault();
    (event.currentTarget as HTMLFormElement).requestSubmit();
  };
  return (
    <form class="skipping" onSubmit={sent} onKeyDown={keys}>
      <fieldset>
        <legend>Why do you skip this task?</legend>
        {REASONS.map((reason, place) => <label key={reason}><input ref={place ? undefined : first} type="radio" name="reason" value={reason} defaultChecked={!place} /> {reason}</label>)}
        <label class="field">Something else <input type="text" name="more" maxLength={1000} /></label>
      </fieldset>
      <p><button type="submit" class="main">Skip</button> <button type="button" onClick={onLeft}>Cancel <kbd aria-hidden="true">Esc</kbd></button></p>
    </form>
  );
}

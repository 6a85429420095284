// Before the first task: who comes by which invitation, and what they agree to.
import { useState } from "preact/hooks";
import * as api from "./api";
import { Prose } from "./parts";

const JOIN = "#/join/";
const told = (text: string): string => (text.includes(JOIN) ? text.slice(text.indexOf(JOIN) + JOIN.length) : text).trim();

export function Entrance({ campaign, says, onEntered }: { campaign: api.Campaign; says: string; onEntered: () => void }) {
  const [given] = useState(location.hash.startsWith(JOIN) ? told(location.hash) : "");
  const [state, set] = useState({ says, busy: false });
  const sent = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    set({ says: "", busy: true });
    try {
      await api.enter(given || told(String(form.get("invitation"))), form.get("consent") !== null || !campaign.consent);
      history.replaceState(null, "", location.pathname); // what lets in stays in no address
      onEntered();
    } catch (problem) {
      set({ says: (problem as Error).message, busy: false });
    }
  };
  return (
    <main class="entrance">
      <h1>{campaign.name}</h1>
      <div class="says"><Prose text={campaign.consent} /></div>
      <form class="entering" onSubmit={sent}>
        {!given && (
          <label class="field">
            Your invitation
            <input type="text" name="invitation" required autocomplete="off" spellcheck={false} aria-describedby="invitation-says" />
            <span class="quiet" id="invitation-says">The link that you were sent, or what stands behind its #.</span>
          </label>
        )}
        {campaign.consent && <label class="agree"><input type="checkbox" name="consent" required /> I have read this and agree.</label>}
        <button type="submit" class="main" disabled={state.busy}>{state.busy ? "Coming in …" : "Begin"}</button>
      </form>
      <div role="alert">{state.says && <p class="missing">{state.says}</p>}</div>
    </main>
  );
}

/** After the last task. */
export function Exit({ progress }: { progress: api.Progress }) {
  const [copied, set] = useState(false);
  const code = progress.code;
  return (
    <main class="entrance">
      <h1 class="answer">{progress.done ? "Thank you. There is nothing more for you to judge." : "There is nothing to judge for you now."}</h1>
      <p class="says">{progress.done === 1 ? "1 task is done" : `${progress.done} tasks are done`}, and every decision is kept.</p>
      {code && (
        <section aria-label="Completion code">
          <p>Give this code where you were sent from:</p>
          <p class="code"><code>{code}</code> <button type="button" onClick={() => navigator.clipboard?.writeText(code).then(() => set(true))}>Copy</button> <span role="status">{copied && "copied"}</span></p>
        </section>
      )}
    </main>
  );
}

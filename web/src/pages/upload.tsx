// Gold and answers into the archive, scored at once.
import { useState } from "preact/hooks";
import { info } from "../parts";

/** An address of this very page is asked for anew, with what was added. */
const again = () => setTimeout(() => location.reload());

export function Upload() {
  const [state, set] = useState<{ says?: string; links?: string[]; busy?: boolean }>({});
  const sent = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const token = String(form.get("token"));
    form.delete("token");
    set({ busy: true });
    try {
      const reply = await fetch("api/uploads", { method: "POST", body: form, headers: { authorization: `Bearer ${token}` } });
      const body = await reply.json();
      set(reply.ok ? { links: body.links } : { says: body.says });
    } catch (problem) {
      set({ says: (problem as Error).message });
    }
  };
  return (
    <>
      <h1 class="answer">Gold and answers in any format that Karat reads are scored at once, and stay under an address of their own.</h1>
      <form class="form" onSubmit={sent}>
        <label>gold standard <input type="file" name="gold" required /></label>
        <label>answers <input type="file" name="answers" required /></label>
        <label>name of the system <input type="text" name="system" required maxLength={80} /></label>
        <label>conventions <select name="like">{(info.value?.profiles ?? [{ name: "karat", title: "Karat" }]).map((one) => <option key={one.name} value={one.name}>{one.title}</option>)}</select></label>
        <label>token of the server <input type="password" name="token" required autocomplete="off" /></label>
        <button type="submit" disabled={state.busy}>{state.busy ? "Scoring …" : "Score"}</button>
      </form>
      <div role="status">
        {state.says && <p class="missing">{state.says}</p>}
        {state.links?.length ? (
          <p class="missing">
            Scored. <a href={state.links[0]} onClick={again}>Look at it</a>{state.links.length > 1 && <>, or at <a href={state.links[1]} onClick={again}>the whole archive</a></>}. The first address is permanent: it shows just this, whatever is added later.
          </p>
        ) : null}
      </div>
      <p class="quiet says">Formats are told from the content: Karat's JSONL, NIF, ELEVANT, HIPE, AIDA and all others that Karat reads. The token is on the terminal in which <code>karat serve … --uploads</code> was started.</p>
    </>
  );
}

// Upload of a gold standard and predictions.
import { useState } from "preact/hooks";
import { EmptyState, leaderboardState } from "../components";
import type { Page } from "../page";
import { hasServer, isSingleSubmission } from "../resources";

/** Reload the page after following a link to it. */
const reloadPage = () => setTimeout(() => location.reload());

export function Upload() {
  const [state, setState] = useState<{ message?: string; links?: string[]; isBusy?: boolean }>({});
  const submitForm = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const token = String(form.get("token"));
    form.delete("token");
    setState({ isBusy: true });
    try {
      const response = await fetch("api/uploads", {
        method: "POST",
        body: form,
        headers: { authorization: `Bearer ${token}` },
      });
      const body = await response.json();
      setState(response.ok ? { links: body.links } : { message: body.message });
    } catch (error) {
      setState({ message: (error as Error).message });
    }
  };
  return (
    <>
      <h1 class="summary">Upload a gold standard and predictions. Karat scores them and gives them a permanent URL.</h1>
      <form class="form" onSubmit={submitForm}>
        <label>
          gold standard <input type="file" name="gold" required />
        </label>
        <label>
          predictions <input type="file" name="predictions" required />
        </label>
        <label>
          system name <input type="text" name="system" required maxLength={80} />
        </label>
        <label>
          profile{" "}
          <select name="profile">
            {(leaderboardState.value?.profiles ?? [{ name: "karat", title: "Karat" }]).map((profile) => (
              <option key={profile.name} value={profile.name}>
                {profile.title}
              </option>
            ))}
          </select>
        </label>
        <label>
          server token <input type="password" name="token" required autocomplete="off" />
        </label>
        <button type="submit" disabled={state.isBusy}>
          {state.isBusy ? "Scoring …" : "Score"}
        </button>
      </form>
      <div role="status">
        {state.message && <p class="missing">{state.message}</p>}
        {state.links?.length ? (
          <p class="missing">
            Scored.{" "}
            <a href={state.links[0]} onClick={reloadPage}>
              View results
            </a>
            {state.links.length > 1 && (
              <>
                or{" "}
                <a href={state.links[1]} onClick={reloadPage}>
                  the whole archive
                </a>
              </>
            )}
            . The first link is permanent and always shows this submission only.
          </p>
        ) : null}
      </div>
      <p class="quiet prose">
        Karat detects the format: its own JSONL, NIF, ELEVANT, HIPE, AIDA and all other supported formats.{" "}
        <code>karat serve … --uploads</code> prints the token to its terminal.
      </p>
    </>
  );
}

/** Whether uploads are possible: there is a server, and it shows the whole archive. */
const canUpload = () => hasServer() && !isSingleSubmission();

export const PAGE: Page = {
  title: "Upload",
  position: 130,
  Content: () => (canUpload() ? <Upload /> : <EmptyState isHeading message="No server accepts uploads here." />),
  isListed: canUpload,
};

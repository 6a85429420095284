// The page of the lead: judges, control results, completion codes and access.
import { useEffect, useState } from "preact/hooks";
import * as api from "./api";

export function LeadPage({ campaign, token }: { campaign: api.Campaign; token: string }) {
  const [judges, setJudges] = useState<api.Judge[] | null>(null);
  const [message, setMessage] = useState("");
  const show = (request: Promise<api.Judge[]>) =>
    request.then(
      (loaded) => {
        setJudges(loaded);
        setMessage("");
      },
      (error: Error) => setMessage(error.message),
    );
  useEffect(() => void show(api.loadJudges(token)), []);
  const revoke = (worker: string) =>
    confirm(`Revoke the access of ${worker}? The judgements stay.`) && show(api.revokeJudge(token, worker));
  return (
    <main class="session">
      <h1>{campaign.name}: judges</h1>
      <div role="alert">{message && <p class="missing">{message}</p>}</div>
      {judges?.length === 0 && <p class="quiet">No judge has entered.</p>}
      {judges !== null && judges.length > 0 && (
        <table>
          <thead>
            <tr>
              {["Worker", "Tasks", "Controls", "Code", "Access"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {judges.map((judge) => (
              <tr key={judge.judge}>
                <th scope="row" dir="auto">
                  {judge.worker ?? <span class="quiet">anonymised</span>}
                </th>
                <td>{judge.completed}</td>
                <td>{judge.control_result}</td>
                <td>{judge.code}</td>
                <td>
                  {judge.is_revoked || judge.worker === null ? (
                    "revoked"
                  ) : (
                    <button type="button" onClick={() => revoke(judge.worker as string)}>
                      Revoke
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </main>
  );
}

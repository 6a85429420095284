// The client of judges: come in, judge, go.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { Entrance, Exit } from "./entrance";
import { Work } from "./work";

type Where = { page: "entrance"; says: string } | { page: "work" } | { page: "exit"; progress: api.Progress };

function App({ campaign }: { campaign: api.Campaign }) {
  const [where, go] = useState<Where>(location.hash.startsWith("#/join/") ? { page: "entrance", says: "" } : { page: "work" });
  const [times, count] = useState(0); // whoever comes in again begins afresh
  useEffect(() => void (document.title = campaign.name), []);
  if (where.page === "exit") return <Exit progress={where.progress} />;
  if (where.page === "entrance") return <Entrance campaign={campaign} says={where.says} onEntered={() => (count(times + 1), go({ page: "work" }))} />;
  return <Work key={times} campaign={campaign} onLost={(says) => go({ page: "entrance", says: times ? says : "" })} onEnd={(progress) => go({ page: "exit", progress })} />;
}

const root = document.getElementById("karat")!;
api.campaign().then(
  (campaign) => render(<App campaign={campaign} />, root),
  (problem: Error) => render(<main class="entrance"><h1 class="answer">{problem.message}</h1></main>, root),
);

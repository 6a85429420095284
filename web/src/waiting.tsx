// What a page shows while it waits for data.

import { useEffect, useState } from "preact/hooks";
import { hasServer, pendingResources } from "./resources";

/** What the resources contain, in sentences. */
const CONTENTS: Partial<Record<string, string>> = {
  leaderboard: "scores and significance tests",
  errors: "error counts",
  cases: "cases",
  texts: "texts",
  groups: "scores by facet",
  dataset: "statistics of the gold standard",
  entities: "entities",
  credits: "credits under several rules",
  curves: "curves",
  reasons: "explanations of score differences",
  problems: "problems",
  verification: "judgements",
  papers: "reproductions of papers",
};
const SLOW = 2; // seconds after which the page says how long it has waited

export function Waiting() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((value) => value + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const names = [...new Set([...pendingResources.value].map((path) => path.split("/")[0]))];
  const contents = names.map((name) => CONTENTS[name] ?? name).join(", ");
  return (
    <p class="waiting quiet" role="status">
      Loading …{contents && ` ${contents}`}
      {/* Screen readers would read every second. */}
      {seconds >= SLOW && (
        <span aria-hidden="true">
          {` (${seconds} s)`}
          {hasServer() && ". The server computes this once; later visits are fast."}
        </span>
      )}
    </p>
  );
}

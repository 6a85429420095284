// The page of the lead: progress, pace, controls, agreement and times. Each number opens its cases.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatFixed } from "../rounding";
import { Stretch } from "../text";
import { entityName, FailureNotice } from "./components";
import { type Entity, sendRequest } from "./http";

/** A number, and the query of the cases behind it (src/karat/web/campaigns/lead_payloads.py). */
interface Figure {
  title: string;
  value: number | string | null;
  total: number | null;
  format: "count" | "share" | "number" | "seconds" | "hours" | "time" | "text";
  query: Record<string, string> | null;
  total_query: Record<string, string> | null;
  reason: string;
  is_alarm: boolean;
}

interface PersonRow {
  person: string;
  figures: Figure[];
  is_revoked: boolean;
}

interface AccessRow {
  worker: string | null;
  person: string | null;
  figures: Figure[];
  is_revoked: boolean;
}

interface Overview {
  people: string;
  time: string;
  groups: { title: string; figures: Figure[]; note: string }[];
  persons: PersonRow[];
  access: AccessRow[];
}

interface RecordLine {
  person: string;
  time: string;
  decision: string;
  labels: { surface: string; entity: Entity | null; details: string }[];
  seconds: number | null;
  notes: string[];
}

interface Case {
  document: string;
  text: string;
  start: number;
  end: number;
  entity: Entity | null;
  notes: string[];
  records: RecordLine[];
}

interface CaseList {
  title: string;
  total: number;
  n_records: number;
  cases: Case[];
}

const LEAD_PREFIX = "#/lead/";
const REFRESH_MS = 15_000;

export const isLeadUrl = (): boolean => location.hash.startsWith(LEAD_PREFIX);

/** Load the page again when the fragment of the URL leads to the page of the lead, or away from it. */
export function watchLeadUrl(): void {
  const isLead = isLeadUrl();
  addEventListener("hashchange", () => isLeadUrl() !== isLead && location.reload());
}

function readRoute(): { token: string; query: string } {
  const [token, query = ""] = location.hash.slice(LEAD_PREFIX.length).split("?", 2);
  return { token, query };
}

export function LeadPage({ name }: { name: string }) {
  const [{ token, query }, setRoute] = useState(readRoute);
  useEffect(() => {
    const update = () => isLeadUrl() && setRoute(readRoute());
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return query ? (
    <CasesPage key={`${token}?${query}`} token={token} query={query} />
  ) : (
    <OverviewPage key={token} name={name} token={token} />
  );
}

const caseUrl = (token: string, query: Record<string, string>) =>
  `${LEAD_PREFIX}${token}?${new URLSearchParams(query)}`;

// Overview.

function OverviewPage({ name, token }: { name: string; token: string }) {
  const [overview, setOverview] = useState<Overview | null>(null);
  const [message, setMessage] = useState("");
  const show = (request: Promise<Overview>) =>
    request.then(
      (loaded) => {
        setOverview(loaded);
        setMessage("");
      },
      (error: Error) => setMessage(error.message),
    );
  const load = () => show(sendRequest<Overview>("GET", "lead/overview", undefined, token));
  useEffect(() => {
    load();
    const timer = setInterval(() => document.hidden || load(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const revoke = (name: string, person: { worker: string } | { person: string }) =>
    confirm(`Revoke the access of ${name}? The ${overview?.people === "judges" ? "judgements" : "labels"} stay.`) &&
    show(sendRequest<Overview>("POST", "lead/revoke", person, token));
  return (
    <main class="lead">
      <h1 dir="auto">{name}: lead</h1>
      <div role="alert">{message && <p class="missing">{message}</p>}</div>
      {!overview && !message && (
        <p class="quiet" role="status">
          Loading …
        </p>
      )}
      {overview && (
        <>
          <p class="quiet">
            As of {formatTime(overview.time, true)}, updated every {REFRESH_MS / 1000} seconds. Select a number to see
            its cases.
          </p>
          <div class="groups">
            {overview.groups.map((group) => (
              <section key={group.title} aria-label={group.title}>
                <h2>{group.title}</h2>
                <ProgressBar figure={group.figures[0]} />
                <dl>
                  {group.figures.map((figure) => (
                    <div key={figure.title}>
                      <dt>{figure.title}</dt>
                      <dd>
                        <FigureValue figure={figure} token={token} />
                      </dd>
                    </div>
                  ))}
                </dl>
                {group.note && <p class="quiet small">{group.note}</p>}
              </section>
            ))}
          </div>
          <h2>{overview.people === "judges" ? "Judges" : "Annotators"}</h2>
          <p class="quiet prose">
            Decisions and times are listed under random names. Names of people are in the list of access only.
          </p>
          <PersonTable
            name={overview.people === "judges" ? "Judges" : "Annotators"}
            firstColumn="Random name"
            token={token}
            rows={overview.persons.map((row) => ({
              key: row.person,
              name: <code>{row.person}</code>,
              figures: row.figures,
              isRevoked: row.is_revoked,
              revoke: () => revoke(row.person, { person: row.person }),
            }))}
          />
          <h2>Access</h2>
          <PersonTable
            name="Access"
            firstColumn="Worker"
            token={token}
            rows={overview.access.map((row) => ({
              key: row.worker ?? `anonymised ${row.person}`,
              name: row.worker ?? <span class="quiet">anonymised</span>,
              figures: row.figures,
              isRevoked: row.is_revoked || row.worker === null,
              revoke: () => revoke(row.worker!, { worker: row.worker! }),
            }))}
          />
        </>
      )}
    </main>
  );
}

/** A bar for a part of a whole. */
function ProgressBar({ figure }: { figure: Figure }) {
  if (figure.format !== "count" || !figure.total || typeof figure.value !== "number" || figure.is_alarm) return null;
  return <progress value={figure.value} max={figure.total} aria-label={figure.title} />;
}

function FigureValue({ figure, token }: { figure: Figure; token: string }) {
  const { value, total, query, reason } = figure;
  if (value === null) return <span class="quiet">–{reason && <span class="reason"> {reason}</span>}</span>;
  const open = (text: string, cases: Figure["query"]) => (cases ? <a href={caseUrl(token, cases)}>{text}</a> : text);
  return (
    <span class={figure.is_alarm ? "alarm" : undefined}>
      {open(formatValue(figure), query)}
      {total !== null && <span class="quiet"> of {open(formatCount(total), figure.total_query)}</span>}
    </span>
  );
}

const formatCount = (value: number): string => value.toLocaleString("en");

function formatValue({ value, format }: Figure): string {
  if (typeof value !== "number") return format === "time" ? formatTime(String(value)) : String(value);
  switch (format) {
    case "share":
      return `${formatFixed(100 * value, 1)} %`;
    case "number":
      return formatFixed(value, 3);
    case "seconds":
      return formatSeconds(value);
    case "hours":
      return formatHours(value);
    default:
      return formatCount(value);
  }
}

const formatSeconds = (seconds: number): string => `${formatFixed(seconds, 1)} s`;
const formatAmount = (value: number, unit: string): string => `${value} ${unit}${value === 1 ? "" : "s"}`;

function formatHours(hours: number): string {
  if (hours === 0) return "none";
  if (hours < 1) return formatAmount(Math.ceil(60 * hours), "minute");
  return hours < 48 ? formatAmount(Math.round(hours), "hour") : formatAmount(Math.round(hours / 24), "day");
}

function formatTime(time: string, hasSeconds = false): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return date.toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    ...(hasSeconds && { second: "2-digit" }),
  });
}

interface TableRow {
  key: string;
  name: ComponentChildren;
  figures: Figure[];
  isRevoked: boolean;
  revoke: () => void;
}

function PersonTable({
  name,
  firstColumn,
  rows,
  token,
}: {
  name: string;
  firstColumn: string;
  rows: TableRow[];
  token: string;
}) {
  if (!rows.length) return <p class="quiet">Nobody has entered yet.</p>;
  const isText = (figure: Figure) => figure.format === "text" || figure.format === "time";
  return (
    <div class="frame" tabIndex={0} role="region" aria-label={name}>
      <table class="sheet">
        <thead>
          <tr>
            <th scope="col">{firstColumn}</th>
            {rows[0].figures.map((figure) => (
              <th key={figure.title} scope="col" class={isText(figure) ? "text" : "number"}>
                {figure.title}
              </th>
            ))}
            <th scope="col">Access</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row" dir="auto">
                {row.name}
              </th>
              {row.figures.map((figure) => (
                <td
                  key={figure.title}
                  class={isText(figure) ? "text" : "number"}
                  data-label={figure.title}
                  title={figure.reason && figure.value === null ? figure.reason : undefined}
                >
                  <FigureValue figure={{ ...figure, reason: "" }} token={token} />
                </td>
              ))}
              <td data-label="Access">
                {row.isRevoked ? (
                  "revoked"
                ) : (
                  <button type="button" onClick={row.revoke}>
                    Revoke
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// Cases.

function CasesPage({ token, query }: { token: string; query: string }) {
  const [list, setList] = useState<CaseList | null>(null);
  const [message, setMessage] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const load = (loadedCases: Case[]) =>
    sendRequest<CaseList>("GET", `lead/cases?${query}&offset=${loadedCases.length}`, undefined, token).then(
      (loaded) => {
        setList({ ...loaded, cases: [...loadedCases, ...loaded.cases] });
        setMessage("");
      },
      (error: Error) => setMessage(error.message),
    );
  useEffect(() => void load([]), []);
  useEffect(() => heading.current?.focus(), [list === null]);
  const parameters = new URLSearchParams(query);
  const [person, hours] = [parameters.get("person"), parameters.get("hours")];
  return (
    <main class="lead">
      <p>
        <a href={`${LEAD_PREFIX}${token}`}>← All numbers</a>
      </p>
      {message && <FailureNotice message={message} retry={() => load(list?.cases ?? [])} />}
      {!list && !message && (
        <p class="quiet" role="status">
          Loading …
        </p>
      )}
      {list && (
        <>
          <h1 ref={heading} tabIndex={-1}>
            {list.title}: {formatCount(list.total)}
          </h1>
          <p class="quiet">
            {[
              person && `Random name ${person}`,
              hours && `last ${formatHours(Number(hours))}`,
              list.n_records !== list.total && `${formatAmount(list.n_records, "decision")}`,
            ]
              .filter(Boolean)
              .join(", ")}
          </p>
          <ol class="cases">
            {list.cases.map((item, index) => (
              <CaseItem key={index} item={item} />
            ))}
          </ol>
          {!list.total && <p class="quiet">No matching cases.</p>}
          {list.cases.length < list.total && (
            <p>
              <button type="button" onClick={() => load(list.cases)}>
                Show more
              </button>{" "}
              <span class="quiet">
                ({formatCount(list.cases.length)} of {formatCount(list.total)})
              </span>
            </p>
          )}
        </>
      )}
    </main>
  );
}

function CaseItem({ item }: { item: Case }) {
  const text = new Stretch(0, item.text);
  return (
    <li>
      <p class="quiet small" dir="auto">
        {[item.document, ...item.notes].join(" · ")}
      </p>
      <p class="passage" dir="auto">
        {text.slice(0, item.start)}
        {item.end > item.start && <mark class="now">{text.slice(item.start, item.end)}</mark>}
        {text.slice(item.end, text.length)}
      </p>
      {item.entity && (
        <p>
          <span class="arrow" role="img" aria-label="is linked to">
            →
          </span>{" "}
          <EntityName entity={item.entity} />
          {item.entity.description && (
            <span class="quiet" dir="auto">
              {" "}
              {item.entity.description}
            </span>
          )}
        </p>
      )}
      {item.records.length === 0 && <p class="quiet">No decision yet.</p>}
      <ul class="records">
        {item.records.map((record, index) => (
          <li key={index}>
            <code class="quiet">{record.person}</code> <b>{record.decision}</b>
            {record.labels.map((label, position) => (
              <span key={position} class="record-label">
                {" "}
                <span class="surface" dir="auto">
                  {label.surface}
                </span>{" "}
                <span class="arrow" role="img" aria-label="is linked to">
                  →
                </span>{" "}
                {label.entity && <EntityName entity={label.entity} />}
                {label.details && (
                  <span class="quiet" dir="auto">
                    {" "}
                    {label.details}
                  </span>
                )}
              </span>
            ))}
            {record.notes.map((note) => (
              <span key={note} class={/^reason|^late/.test(note) ? "note quiet" : "note alarm"} dir="auto">
                {" "}
                {note}
              </span>
            ))}
            <span class="quiet">
              {record.time && ` · ${formatTime(record.time, true)}`}
              {record.seconds !== null && ` · ${formatSeconds(record.seconds)}`}
            </span>
          </li>
        ))}
      </ul>
    </li>
  );
}

function EntityName({ entity }: { entity: Entity }) {
  const name = entityName(entity);
  return (
    <>
      {entity.link ? (
        <a href={entity.link} target="_blank" rel="noopener noreferrer" dir="auto">
          {name}
        </a>
      ) : (
        <b dir="auto">{name}</b>
      )}
      {entity.name !== null && <span class="quiet id"> {entity.id}</span>}
    </>
  );
}

// Resources: inlined in the HTML file and compressed, or fetched from the server.
import type {
  CasesResource,
  CreditsResource,
  CurvesResource,
  DatasetResource,
  EntitiesResource,
  ErrorsResource,
  GroupsResource,
  LeaderboardResource,
  ProblemsResource,
  ReasonsResource,
  TextsResource,
  VerificationResource,
} from "./shape";

const requests = new Map<string, Promise<unknown>>();

function loadResource<T>(name: string): Promise<T> {
  const pastRequest = requests.get(name);
  if (pastRequest) return pastRequest as Promise<T>;
  const request = readInlineResource(name) ?? fetchResource(name);
  requests.set(name, request);
  return request as Promise<T>;
}

function readInlineResource(name: string): Promise<unknown> | null {
  const element = document.getElementById(`resource:${name}`);
  if (!element)
    return document.querySelector("script[id^='resource:']")
      ? Promise.reject(new Error(`This file does not contain ${name}.`))
      : null;
  return decodeResource(element.textContent ?? "");
}

/** Decode Base64-encoded, gzip-compressed JSON. */
async function decodeResource(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function fetchResource(name: string): Promise<unknown> {
  const response = await fetch(`api/resources/${name}`);
  const body = await response.json();
  if (!response.ok) throw new Error(body.message ?? `The server returned status ${response.status}.`);
  return body;
}

/** Check whether a server, not a file, provides the page. */
export const hasServer = () => document.querySelector("script[id^='resource:']") === null;

/** Check whether the page shows a single submission. */
export const isSingleSubmission = () => /\/at\/[^/]+\/$/.test(location.pathname);

export const loadLeaderboard = () => loadResource<LeaderboardResource>("leaderboard");
export const loadVerification = () => loadResource<VerificationResource>("verification");
export const loadErrors = () => loadResource<ErrorsResource>("errors");
export const loadEntities = () => loadResource<EntitiesResource>("entities");
export const loadProblems = () => loadResource<ProblemsResource>("problems");
export const loadCredits = (key: string) => loadResource<CreditsResource>(`credits/${key}`);
export const loadGroups = (key: string) => loadResource<GroupsResource>(`groups/${key}`);
export const loadCases = (key: string) => loadResource<CasesResource>(`cases/${key}`);
export const loadTexts = (key: string, block: number) => loadResource<TextsResource>(`texts/${key}/${block}`);
export const loadDataset = (key: string) => loadResource<DatasetResource>(`dataset/${key}`);
export const loadReasons = (key: string) => loadResource<ReasonsResource>(`reasons/${key}`);
export const loadCurves = (key: string) => loadResource<CurvesResource>(`curves/${key}`);

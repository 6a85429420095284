// Where pieces come from: inlined in the file, compressed, or from the server that sent the page.
import type { BoardPiece, CasesPiece, CreditsPiece, CurvesPiece, DatasetPiece, EntitiesPiece, ErrorsPiece, GroupsPiece, ProblemsPiece, ReasonsPiece, TextsPiece, VerificationPiece } from "./shape";

const asked = new Map<string, Promise<unknown>>();

function get<T>(name: string): Promise<T> {
  const known = asked.get(name);
  if (known) return known as Promise<T>;
  const made = inlined(name) ?? fetched(name);
  asked.set(name, made);
  return made as Promise<T>;
}

function inlined(name: string): Promise<unknown> | null {
  const element = document.getElementById(`piece:${name}`);
  if (!element) return document.querySelector("script[id^='piece:']") ? Promise.reject(new Error(`This file does not hold ${name}.`)) : null;
  return unpacked(element.textContent ?? "");
}

/** Base64 of gzip of JSON. */
async function unpacked(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function fetched(name: string): Promise<unknown> {
  const reply = await fetch(`api/pieces/${name}`);
  const body = await reply.json();
  if (!reply.ok) throw new Error(body.says ?? `The server answers ${reply.status}.`);
  return body;
}

/** Whether a server answers, which takes uploads. */
export const served = () => document.querySelector("script[id^='piece:']") === null;

/** Whether the page shows what one upload gave, and nothing else. */
export const alone = () => /\/at\/[^/]+\/$/.test(location.pathname);

export const board = () => get<BoardPiece>("board");
export const verification = () => get<VerificationPiece>("verification");
export const errors = () => get<ErrorsPiece>("errors");
export const entities = () => get<EntitiesPiece>("entities");
export const problems = () => get<ProblemsPiece>("problems");
export const credits = (key: string) => get<CreditsPiece>(`credits/${key}`);
export const groups = (key: string) => get<GroupsPiece>(`groups/${key}`);
export const cases = (key: string) => get<CasesPiece>(`cases/${key}`);
export const texts = (key: string, block: number) => get<TextsPiece>(`texts/${key}/${block}`);
export const dataset = (key: string) => get<DatasetPiece>(`dataset/${key}`);
export const reasons = (key: string) => get<ReasonsPiece>(`reasons/${key}`);
export const curves = (key: string) => get<CurvesPiece>(`curves/${key}`);

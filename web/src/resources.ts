// Resources: inlined in the HTML file and compressed, or fetched from the server.
import { signal } from "@preact/signals";
import type { Resources } from "./shape";

const requests = new Map<string, Promise<unknown>>();

/** The paths of the resources that are being loaded. */
export const pendingResources = signal<ReadonlySet<string>>(new Set());

/** Load a resource once; `parts` are the key of a dataset and a block, for resources that have them. */
export function loadResource<Name extends keyof Resources>(
  name: Name,
  ...parts: readonly (string | number)[]
): Promise<Resources[Name]> {
  const path = [name, ...parts].join("/");
  const request = requests.get(path) ?? trackRequest(path, readInlineResource(path) ?? fetchResource(path));
  requests.set(path, request);
  return request as Promise<Resources[Name]>;
}

/** Name a resource as pending until its request has ended. */
function trackRequest(path: string, request: Promise<unknown>): Promise<unknown> {
  pendingResources.value = new Set([...pendingResources.value, path]);
  const endRequest = () => {
    pendingResources.value = new Set([...pendingResources.value].filter((item) => item !== path));
  };
  request.then(endRequest, endRequest);
  return request;
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

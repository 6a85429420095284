// Requests of the clients for judges and annotators, and the entities that both show.

export interface Entity {
  id: string;
  name: string | null;
  description: string | null;
  types: string[];
  link: string | null;
}

export class ApiError extends Error {
  constructor(
    readonly error: string,
    message: string,
    /** HTTP status; 0 if the server does not respond. */
    readonly status: number,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export async function sendRequest<T>(method: string, path: string, payload?: unknown, token?: string): Promise<T> {
  let response: Response;
  try {
    const headers = {
      ...(payload !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const body = payload === undefined ? undefined : JSON.stringify(payload);
    response = await fetch(`api/${path}`, { method, body, headers });
  } catch {
    throw new ApiError("away", "The server is not responding. Your earlier decisions are saved.", 0);
  }
  if (response.status === 204) return undefined as T;
  const body = await response
    .json()
    .catch(() => ({ error: "internal", message: `The server returned status ${response.status}.` }));
  if (!response.ok) throw new ApiError(body.error, body.message, response.status);
  return body as T;
}

const searchResults = new Map<string, Entity[]>();
const MAX_SEARCHES = 500;

/** Search entities by name or id; a repeated query needs no request. */
export async function searchEntities(text: string): Promise<Entity[]> {
  const cachedResult = searchResults.get(text);
  if (cachedResult) return cachedResult;
  const { entities } = await sendRequest<{ entities: Entity[] }>("GET", `search?q=${encodeURIComponent(text)}`);
  if (searchResults.size >= MAX_SEARCHES) searchResults.clear();
  searchResults.set(text, entities);
  return entities;
}

export const getCachedSearch = (text: string): Entity[] | undefined => searchResults.get(text);

/** Create a random id for a record; repeated requests with one id have one effect. */
export const createId = (): string =>
  crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;

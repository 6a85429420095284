// Components and helpers that all pages share.

import { computed, signal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { compilePattern, Data } from "./data";
import * as resources from "./resources";
import { formatFixed } from "./rounding";
import { currentUrl, pageUrl, type QueryChanges, route, updateQuery } from "./route";
import type { DatasetInfo, LeaderboardResource, ProfileInfo } from "./shape";
import { Stretch } from "./text";
import { Waiting } from "./waiting";

export const leaderboardState = signal<LeaderboardResource | null>(null);

export const systemTitle = (system: number): string => leaderboardState.value!.systems[system].title;
export const systemName = (system: number): string => leaderboardState.value!.systems[system].name;
export const getSystemNames = (): string[] => leaderboardState.value!.systems.map((system) => system.name);

/** List the systems with perfect scores, such as an oracle, but no uploads; the pages hide them by default. */
export const getPerfectSystems = (): number[] => perfectSystems.value;
const perfectSystems = computed((): number[] => {
  const { systems, profiles, tables } = leaderboardState.value!;
  const headlineTable = tables.find(
    (table) => table.profile === profiles[0]?.name && table.measure === profiles[0].headline,
  );
  const matches = systems
    .map((_, system) => system)
    .filter((system) => {
      const values = (headlineTable?.value ?? []).map((row) => row[system]).filter((value) => value !== null);
      return !systems[system].is_upload && values.length > 0 && values.every((value) => value === 1);
    });
  return matches.length < systems.length ? matches : [];
});

/** Query value that hides no system; without a value, perfect systems are hidden. */
export const HIDE_NOTHING = "-";

/** Get the systems that all pages hide. */
export const getHiddenSystems = (): Set<number> => hiddenSystems.value;
const hiddenSystems = computed((): Set<number> => {
  const { hide: hiddenNames } = route.value.query;
  if (hiddenNames === undefined) return new Set(getPerfectSystems());
  const names = hiddenNames.split(",");
  return new Set(leaderboardState.value!.systems.flatMap(({ name }, system) => (names.includes(name) ? [system] : [])));
});

/** Format the query value that hides some systems. */
export function formatHidden(systems: Iterable<number>): string {
  return [...systems].map(systemName).join(",") || HIDE_NOTHING;
}

export const getVisibleSystems = (): number[] => {
  const hiddenSet = getHiddenSystems();
  return leaderboardState.value!.systems.map((_, system) => system).filter((system) => !hiddenSet.has(system));
};

/** List the tracks of the visible systems; all tracks if none is visible. */
export function getVisibleTracks(data: Data): number[] {
  const hiddenSet = getHiddenSystems(),
    tracks = data.tracks.map((_, t) => t);
  const visibleTracks = tracks.filter((t) => !hiddenSet.has(data.tracks[t].system));
  return visibleTracks.length ? visibleTracks : tracks;
}

/** A note on the hidden systems, with a link that shows them. */
export function HiddenSystems() {
  const systems = [...getHiddenSystems()];
  if (!systems.length) return null;
  const isDefault = route.value.query.hide === undefined;
  const names = systems.length > 3 ? `${systems.length} systems` : systems.map(systemTitle).join(", ");
  return (
    <span class="quiet">
      Hidden: {names}
      {isDefault && (systems.length === 1 ? " (perfect score)" : " (perfect scores)")}.{" "}
      <a href={currentUrl({ hide: HIDE_NOTHING })}>Show</a>
    </span>
  );
}

/** Get the dataset in the query, or the first one that the page can show. */
export function getSelectedDataset(predicate: (dataset: DatasetInfo) => boolean = () => true): DatasetInfo | null {
  const { datasets } = leaderboardState.value!;
  return (
    datasets.find((dataset) => dataset.key === route.value.query.dataset) ??
    datasets.find(predicate) ??
    datasets[0] ??
    null
  );
}

export interface LoadState<T> {
  value?: T;
  error?: Error;
}

/** Load a resource; load again when the key changes. */
export function useResource<T>(load: () => Promise<T>, key: string): LoadState<T> {
  const [state, setState] = useState<LoadState<T> & { key?: string }>({});
  useEffect(() => {
    let isActive = true;
    load().then(
      (value) => isActive && setState({ value, key }),
      (error: Error) => isActive && setState({ error, key }),
    );
    return () => {
      isActive = false;
    };
  }, [key]);
  return state.key === key ? state : {};
}

const dataRequests = new Map<string, Promise<Data>>();
function loadData(key: string): Promise<Data> {
  const request = dataRequests.get(key) ?? resources.loadResource("cases", key).then((resource) => new Data(resource));
  dataRequests.set(key, request);
  return request;
}

/** Load the cases of a dataset, and its facets or avoided errors if the query selects by them. */
export function useData(key: string): LoadState<Data> {
  const { label: facet, avoided } = route.value.query,
    needsGroups =
      facet !== undefined && leaderboardState.value!.datasets.some((dataset) => dataset.key === key && dataset.groups);
  return useResource(
    async () => {
      const data = await loadData(key);
      if (needsGroups) data.groups ??= await resources.loadResource("groups", key);
      if (avoided) data.avoided ??= await resources.loadResource("avoided", key);
      return data;
    },
    [key, needsGroups && "split", avoided && "avoided"].filter(Boolean).join(" "),
  );
}

const textRequests = new Map<string, Promise<Map<number, Stretch[]>>>();
function loadTexts(key: string, block: number): Promise<Map<number, Stretch[]>> {
  const path = `${key}/${block}`;
  const request =
    textRequests.get(path) ??
    resources
      .loadResource("texts", key, block)
      .then(
        ({ documents }) =>
          new Map(
            documents.map(({ document, stretches }) => [
              document,
              stretches.map(([start, text]) => new Stretch(start, text)),
            ]),
          ),
      );
  textRequests.set(path, request);
  return request;
}

/** Load the texts of some documents; documents without text are missing from the map. */
export function useTexts(
  key: string,
  data: Data | undefined,
  docs: readonly number[],
): LoadState<Map<number, Stretch[]>> {
  const blocks = data
    ? [...new Set(docs.map((doc) => data.resource.documents[doc].block).filter((block) => block >= 0))].sort(
        (a, b) => a - b,
      )
    : [];
  return useResource(
    async () => {
      const texts = await Promise.all(blocks.map((block) => loadTexts(key, block)));
      return texts.length === 1 ? texts[0] : new Map(texts.flatMap((block) => [...block]));
    },
    `${key}:${blocks.join(",")}`,
  );
}

export function Loader<T>({ state, children }: { state: LoadState<T>; children: (value: T) => ComponentChildren }) {
  if (state.error)
    return (
      <>
        <EmptyState isHeading message={state.error.message} />
        {resources.hasServer() && (
          <p>
            <button type="button" onClick={() => location.reload()}>
              Try again
            </button>
          </p>
        )}
      </>
    );
  if (state.value === undefined) return <Waiting />;
  return <>{children(state.value)}</>;
}

/** A message about missing data, with the command that provides it. */
export function EmptyState({
  message,
  command,
  isHeading,
}: {
  message: string;
  command?: string;
  isHeading?: boolean;
}) {
  return (
    <div class="missing">
      {isHeading ? <h1 class="summary">{message}</h1> : <p>{message}</p>}
      {command && <pre>{command}</pre>}
    </div>
  );
}

/** How the outcome `wrong span` differs from the error category with almost the same name. */
export const WrongSpanNote = () => (
  <p class="quiet prose">
    Outcome wrong span: the prediction overlaps a mention of any entity, but matches none. The error category Wrong
    spans counts it only if the entity is the predicted one.
  </p>
);

/** Notes on scores under profiles other than the main one. */
export function ProfileNotes({
  profiles,
  datasetIndexes,
}: {
  profiles: readonly ProfileInfo[];
  datasetIndexes: readonly number[];
}) {
  const entries = leaderboardState.value!.notes.filter((entry) => datasetIndexes.includes(entry.dataset));
  const lines = profiles.flatMap((profile) =>
    entries.flatMap((entry) => (entry.profile_notes[profile.name] ?? []).map((note) => `${profile.title}: ${note}.`)),
  );
  return [...new Set(lines)].map((line) => (
    <p class="prose" key={line}>
      {line}
    </p>
  ));
}

export const formatPercent = (value: number | null | undefined, digits = 1): string =>
  value === null || value === undefined ? "–" : formatFixed(100 * value, digits);
export const formatSigned = (value: number): string =>
  `${value < 0 ? "−" : "+"}${formatFixed(100 * Math.abs(value), 1)}`;
export const formatNumber = (value: number): string =>
  Number.isInteger(value) ? value.toLocaleString("en") : formatFixed(value, 1);

/** Choose the singular or plural of a noun. */
export const pluralise = (count: number, singular: string, plural = `${singular}s`): string =>
  count === 1 ? singular : plural;

/** Format a number with its noun in the singular or plural. */
export const formatCount = (count: number, singular: string, plural?: string): string =>
  `${formatNumber(count)} ${pluralise(count, singular, plural)}`;

/** A drop-down list whose value is in the URL. */
export function Select({
  label,
  name,
  options,
  value,
  reset,
}: {
  label: string;
  name: string;
  options: readonly (readonly [string, string])[];
  value: string;
  reset?: QueryChanges;
}) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => updateQuery({ ...reset, [name]: event.currentTarget.value })}>
        {options.map(([key, title]) => (
          <option value={key} key={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

export function SearchField({ label, name }: { label: string; name: string }) {
  return (
    <label class="choice">
      <span>{label}</span>
      <input
        type="search"
        value={route.value.query[name] ?? ""}
        placeholder="all"
        spellcheck={false}
        onInput={(event) => updateQuery({ [name]: event.currentTarget.value, more: "" }, true)}
      />
    </label>
  );
}

/** A list of checkboxes with a search field; an option has a key, a title and optionally a code in small type. */
export function MultiSelect({
  label,
  options,
  selection,
  onChange,
}: {
  label: string;
  options: readonly (readonly [string, string, string?])[];
  selection: readonly string[];
  onChange: (selection: string[]) => void;
}) {
  const [search, setSearch] = useState("");
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeOutside = (event: Event) => {
      const target = event.target as Node;
      // A click on the text of an option gives the focus to an ancestor that can have it, and must not close the list.
      const isAncestor = event.type === "focusin" && target.contains(details.current);
      if (details.current && !details.current.contains(target) && !isAncestor) details.current.open = false;
    };
    addEventListener("pointerdown", closeOutside);
    addEventListener("focusin", closeOutside);
    return () => {
      removeEventListener("pointerdown", closeOutside);
      removeEventListener("focusin", closeOutside);
    };
  }, []);
  const test = search ? compilePattern(search) : () => true;
  const matches = options.filter(([key, title]) => test(`${key}\n${title}`));
  const toggleOption = (key: string) =>
    onChange(
      options
        .map(([optionKey]) => optionKey)
        .filter((optionKey) => (optionKey === key ? !selection.includes(key) : selection.includes(optionKey))),
    );
  return (
    <details
      class="chooser"
      ref={details}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          details.current!.open = false;
          details.current!.querySelector("summary")!.focus();
        }
      }}
    >
      <summary>
        {label}{" "}
        <b>
          {selection.length === 1
            ? (options.find(([key]) => key === selection[0])?.[1] ?? selection[0])
            : `${selection.length} of ${options.length}`}
        </b>
      </summary>
      <div class="list">
        <label class="choice">
          <span>search</span>
          <input
            type="search"
            value={search}
            spellcheck={false}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <p>
          <button type="button" onClick={() => onChange(matches.map(([key]) => key))}>
            {search ? `only these ${matches.length}` : "all"}
          </button>{" "}
          <button type="button" onClick={() => onChange([])}>
            reset
          </button>
        </p>
        <ul>
          {matches.map(([key, title, code]) => (
            <li key={key}>
              <label>
                <input type="checkbox" checked={selection.includes(key)} onChange={() => toggleOption(key)} />
                <span>
                  {title} {code && <small class="code">{code}</small>}
                </span>
              </label>
            </li>
          ))}
        </ul>
        {!matches.length && <p class="quiet">No matches.</p>}
      </div>
    </details>
  );
}

export function DatasetSelect({ predicate = () => true }: { predicate?: (dataset: DatasetInfo) => boolean }) {
  const options = leaderboardState.value!.datasets.filter(predicate);
  const selection = getSelectedDataset(predicate);
  if (options.length < 2)
    return (
      <span class="choice">
        dataset <b>{selection?.name}</b>
      </span>
    );
  return (
    <Select
      label="dataset"
      name="dataset"
      value={selection?.key ?? ""}
      options={options.map((dataset) => [dataset.key, dataset.name])}
      reset={{ doc: "", at: "" }}
    />
  );
}

export function Toolbar({ children }: { children: ComponentChildren }) {
  return <div class="bar">{children}</div>;
}

const PAGE_URLS: readonly [RegExp, (id: string) => string][] = [
  [/^Q[1-9][0-9]{0,11}$/, (id) => `https://www.wikidata.org/wiki/${id}`],
  [/^https?:\/\/([a-z-]+\.)?(wikipedia|wikidata|dbpedia|yago-knowledge)\.org\//, (id) => id],
];

/** Build the URL of an entity in its knowledge base; null for other knowledge bases. */
export function entityPageUrl(id: string): string | null {
  for (const [pattern, makeUrl] of PAGE_URLS) if (pattern.test(id)) return makeUrl(id);
  return null;
}

/** A link to the page of an entity, with its id if its name is ambiguous. */
export function EntityLink({
  data,
  entity,
  dataset,
  showId = data.hasSharedName(entity),
}: {
  data: Data;
  entity: number;
  dataset: string;
  showId?: boolean;
}): VNode {
  if (entity < 0) return <span class="quiet">{data.getId(entity)}</span>;
  const id = data.getId(entity);
  const link = (
    <a href={pageUrl("entity", { dataset, entity: id })} title={data.getDescription(entity) ?? id} dir="auto">
      {data.getName(entity)}
    </a>
  );
  return showId ? (
    <>
      {link} <span class="quiet id">{id}</span>
    </>
  ) : (
    link
  );
}

/** The gold entity of a mention and its alternatives. */
export function GoldEntities({ data, mention, dataset }: { data: Data; mention: number; dataset: string }): VNode {
  const { entity, alternatives } = data.resource.gold;
  return (
    <>
      {[entity[mention], ...(alternatives[mention] ?? [])].slice(0, 4).map((alternative, index) => (
        <>
          {index > 0 && <span class="quiet"> or </span>}
          <EntityLink key={alternative} data={data} entity={alternative} dataset={dataset} />
        </>
      ))}
    </>
  );
}

export const KIND_CLASS = ["correct", "link", "span", "missed", "spurious", "free"];

export function KindLabel({ data, kind }: { data: Data; kind: number }) {
  return <span class={`kind ${KIND_CLASS[kind]}`}>{data.resource.kinds[kind]}</span>;
}

/** A mention in its context. */
export function MentionContext({
  stretches,
  start,
  end,
  surface,
}: {
  stretches: Stretch[] | undefined;
  start: number;
  end: number;
  surface: string;
}) {
  const stretch = stretches?.find((stretch) => stretch.start <= start && end <= stretch.end);
  if (!stretch) return <b dir="auto">{surface}</b>;
  // Cut at spaces, so that words stay whole.
  const isCut = [start - 48 > stretch.start, end + 48 < stretch.end];
  const textBefore = stretch
    .slice(start - 48, start)
    .replace(/\s+/g, " ")
    .replace(isCut[0] ? /^[^ ]* / : "", "");
  const textAfter = stretch
    .slice(end, end + 48)
    .replace(/\s+/g, " ")
    .replace(isCut[1] ? / [^ ]*$/ : "", "");
  return (
    <span dir="auto" class="within">
      <span class="quiet">
        {isCut[0] ? "…\u00a0" : ""}
        {textBefore}
      </span>
      <b>{stretch.slice(start, end)}</b>
      <span class="quiet">
        {textAfter}
        {isCut[1] ? "\u00a0…" : ""}
      </span>
    </span>
  );
}

/** A link that shows more rows of a long list. */
export function MoreLink({ count, total, unit }: { count: number; total: number; unit: string }) {
  if (count >= total) return null;
  return (
    <p>
      <a href={currentUrl({ more: Math.round(count / 100) + 2 })}>Show more</a>{" "}
      <span class="quiet">
        ({formatNumber(count)} of {formatNumber(total)} {unit})
      </span>
    </p>
  );
}

export const getRowLimit = (): number => 100 * Math.max(1, Number(route.value.query.more) || 1);

// Entities, surfaces and confusions: frequency and scores.
import type { ComponentChildren } from "preact";
import {
  DatasetSelect,
  EmptyState,
  EntityLink,
  entityPageUrl,
  formatNumber,
  formatPercent,
  getHiddenSystems,
  getRowLimit,
  getSelectedDataset,
  getVisibleSystems,
  getVisibleTracks,
  HiddenSystems,
  Loader,
  leaderboardState,
  MentionContext,
  MoreLink,
  pluralise,
  SearchField,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useData,
  useResource,
  useTexts,
} from "../components";
import { CORRECT_LINK, compilePattern, countItems, type Data, UNCOUNTED_CASE, UNLINKED, WRONG_LINK } from "../data";
import type { Page } from "../page";
import * as resources from "../resources";
import { pageUrl, route } from "../route";
import type { EntitiesResource } from "../shape";
import { type Cell, type Column, getSortOrder, rankRows, Sheet } from "../sheet";
import { NoCases } from "./cases";

const ALL_DATASETS = "all";
const LIST_TITLES: readonly (readonly [string, string])[] = [
  ["", "gold entities"],
  ["surfaces", "surfaces"],
  ["confusions", "confusions (gold → prediction)"],
];

function DataLoader({ children }: { children: (data: Data, dataset: string) => ComponentChildren }) {
  const dataset = getSelectedDataset((item) => item.cases)!;
  if (!dataset.cases)
    return (
      <>
        <Toolbar>
          <DatasetSelect />
        </Toolbar>
        <NoCases />
      </>
    );
  return <Loader state={useData(dataset.key)}>{(data) => children(data, dataset.key)}</Loader>;
}

export function Entities() {
  if (route.value.query.dataset === ALL_DATASETS) return <AllDatasets />;
  return <DataLoader>{(data, dataset) => <EntityList table={buildTable(data, dataset)} />}</DataLoader>;
}

export const EntityPage = () => (
  <DataLoader>{(data, dataset) => <EntityReport data={data} dataset={dataset} />}</DataLoader>
);
export const SurfacePage = () => (
  <DataLoader>{(data, dataset) => <SurfaceReport data={data} dataset={dataset} />}</DataLoader>
);

/** A row of the list: an entity, a surface or a confusion. */
interface ListRow {
  searchText: string;
  cells: Cell[];
  count: number;
  url: string | null;
  shares: readonly (number | null)[];
  systemTitles: string;
}

interface ListTable {
  columns: Column[];
  rows: ListRow[];
  systems: readonly number[];
  omittedCount: number;
}

function ListToolbar() {
  const { datasets } = leaderboardState.value!,
    datasetsWithCases = datasets.filter((item) => item.cases);
  return (
    <Toolbar>
      {datasetsWithCases.length > 1 ? (
        <Select
          label="dataset"
          name="dataset"
          value={
            route.value.query.dataset === ALL_DATASETS ? ALL_DATASETS : getSelectedDataset((item) => item.cases)!.key
          }
          options={[...datasetsWithCases.map((item) => [item.key, item.name] as const), [ALL_DATASETS, "all datasets"]]}
        />
      ) : (
        <DatasetSelect predicate={(item) => item.cases} />
      )}
      <Select
        label="list"
        name="show"
        value={route.value.query.show ?? ""}
        options={LIST_TITLES}
        reset={{ sort: "" }}
      />
      <SearchField label="search" name="find" />
      <HiddenSystems />
    </Toolbar>
  );
}

const LIST_NOUNS: Record<string, string> = { "": "entities", surfaces: "surfaces", confusions: "confusions" };

function EntityList({ table }: { table: ListTable }) {
  const { query } = route.value;
  const list = query.show && query.show in LIST_NOUNS ? query.show : "",
    isConfusions = list === "confusions";
  const test = query.find ? compilePattern(query.find) : () => true;
  const { key } = getSortOrder();
  const systemIndex = table.systems.findIndex((system) => systemName(system) === key);
  const matches = table.rows.filter((row) => test(row.searchText)).sort((a, b) => b.count - a.count);
  const ranking =
    systemIndex >= 0
      ? rankRows(matches, (row) => row.shares[systemIndex])
      : key === "count"
        ? rankRows(matches, (row) => row.count)
        : matches;
  const columns: Column[] = [
    ...table.columns,
    { title: isConfusions ? "count" : "mentions", kind: "number", sortKey: "count" },
    ...(isConfusions
      ? [{ title: "systems" }]
      : table.systems.map(
          (system): Column => ({
            title: systemTitle(system),
            kind: "number",
            sortKey: systemName(system),
            isMinor: table.systems.length > 2,
          }),
        )),
  ];
  const rows = ranking.slice(0, getRowLimit()).map((row): Cell[] => [
    ...row.cells,
    {
      text: formatNumber(row.count),
      content: row.url ? <a href={row.url}>{formatNumber(row.count)}</a> : formatNumber(row.count),
    },
    ...(isConfusions
      ? [{ text: row.systemTitles }]
      : row.shares.map(
          (value, index): Cell => ({
            text: formatPercent(value, 0),
            heat: value ?? undefined,
            content:
              value !== null && row.url ? (
                <a class="plain" href={`${row.url}&system=${encodeURIComponent(systemName(table.systems[index]))}`}>
                  {formatPercent(value, 0)}
                </a>
              ) : undefined,
          }),
        )),
  ]);
  return (
    <>
      <h1 class="summary">
        <b>{formatNumber(ranking.length)}</b> {LIST_NOUNS[list]}, most frequent first.{" "}
        {!isConfusions && "Columns show each system's share of correct mentions in percent."}
      </h1>
      <ListToolbar />
      {rows.length ? <Sheet name={LIST_NOUNS[list]} columns={columns} rows={rows} /> : <p>No matches.</p>}
      <MoreLink count={rows.length} total={ranking.length} unit={LIST_NOUNS[list]} />
      {table.omittedCount > 0 && (
        <p class="quiet">
          {formatNumber(table.omittedCount)} rarer rows are not listed. Select a single dataset to see all of its rows.
        </p>
      )}
    </>
  );
}

/** Group the mentions that count for at least one system. */
function groupMentions<K>(data: Data, key: (g: number) => K): Map<K, number[]> {
  const tracks = data.tracks.map((_, t) => t),
    groups = new Map<K, number[]>();
  for (let g = 0; g < data.resource.gold.start.length; g++) {
    if (tracks.every((t) => data.getKind(t, g) === UNCOUNTED_CASE)) continue;
    const group = groups.get(key(g));
    group ? group.push(g) : groups.set(key(g), [g]);
  }
  return groups;
}

function correctShare(data: Data, t: number, mentions: readonly number[]): number | null {
  const kinds = mentions.map((g) => data.getKind(t, g)).filter((kind) => kind !== UNCOUNTED_CASE);
  return kinds.length ? kinds.filter((kind) => kind === CORRECT_LINK).length / kinds.length : null;
}

function buildTable(data: Data, dataset: string): ListTable {
  const tracks = getVisibleTracks(data),
    systems = tracks.map((t) => data.tracks[t].system);
  const correctShares = (mentions: readonly number[]) => tracks.map((t) => correctShare(data, t, mentions));
  if (route.value.query.show === "confusions") {
    const rows = findConfusions(data, tracks).map(
      (confusion): ListRow => ({
        searchText: `${data.getName(confusion.gold)}\n${data.getName(confusion.prediction)}`,
        cells: [confusion.gold, confusion.prediction].map((entity) => ({
          text: data.getName(entity),
          content: <EntityLink data={data} entity={entity} dataset={dataset} />,
        })),
        count: confusion.count,
        url: pageUrl("cases", {
          dataset,
          entity: data.getId(confusion.gold),
          kind: "wrong link",
          find: confusion.prediction >= 0 ? escapePattern(data.getId(confusion.prediction)) : "",
        }),
        shares: [],
        systemTitles: confusion.tracks.map((t) => systemTitle(data.tracks[t].system)).join(", "),
      }),
    );
    return { columns: [{ title: "gold" }, { title: "prediction" }], rows, systems, omittedCount: 0 };
  }
  if (route.value.query.show === "surfaces") {
    const rows = [...groupMentions(data, (g) => data.getGoldSurface(g))].map(([surface, mentions]): ListRow => {
      const entities = countItems(mentions.map((g) => data.resource.gold.entity[g]));
      return {
        searchText: surface,
        cells: [
          {
            text: surface,
            content: (
              <a href={pageUrl("mention", { dataset, surface })} dir="auto">
                {surface}
              </a>
            ),
          },
          {
            text:
              entities
                .slice(0, 3)
                .map(([entity]) => data.getName(entity))
                .join(", ") + (entities.length > 3 ? ` and ${entities.length - 3} more` : ""),
          },
        ],
        count: mentions.length,
        url: pageUrl("cases", { dataset, surface }),
        shares: correctShares(mentions),
        systemTitles: "",
      };
    });
    return { columns: [{ title: "surface" }, { title: "entities", isMinor: true }], rows, systems, omittedCount: 0 };
  }
  const rows = [...groupMentions(data, (g) => data.resource.gold.entity[g])].map(
    ([entity, mentions]): ListRow => ({
      searchText: `${data.getName(entity)}\n${data.getId(entity)}`,
      cells: [
        { text: data.getName(entity), content: <EntityLink data={data} entity={entity} dataset={dataset} /> },
        {
          text: countItems(mentions.map((g) => data.getGoldSurface(g)))
            .slice(0, 4)
            .map(([surface]) => surface)
            .join(", "),
        },
      ],
      count: mentions.length,
      url: pageUrl("cases", { dataset, entity: data.getId(entity) }),
      shares: correctShares(mentions),
      systemTitles: "",
    }),
  );
  return { columns: [{ title: "entity" }, { title: "surfaces", isMinor: true }], rows, systems, omittedCount: 0 };
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The list over all datasets. */
function AllDatasets() {
  const state = useResource(() => resources.loadResource("entities"), "entities");
  if (state.error)
    return (
      <>
        <ListToolbar />
        <EmptyState isHeading message={state.error.message} command="pip install 'karat[duckdb]'" />
      </>
    );
  return <Loader state={state}>{(resource) => <EntityList table={buildOverallTable(resource)} />}</Loader>;
}

function buildOverallTable(resource: EntitiesResource): ListTable {
  const { show: list } = route.value.query,
    { datasets } = leaderboardState.value!,
    systems = getVisibleSystems();
  const entityName = (entity: number) =>
    entity < 0 ? (entity === UNLINKED ? "unlinked" : "NIL") : (resource.names[entity] ?? resource.entities[entity]);
  const entityCell = (entity: number, dataset: number): Cell => ({
    text: entityName(entity),
    content:
      entity < 0 ? (
        <span class="quiet">{entityName(entity)}</span>
      ) : (
        <a
          href={pageUrl("entity", { dataset: datasets[dataset].key, entity: resource.entities[entity] })}
          title={resource.entities[entity]}
          dir="auto"
        >
          {entityName(entity)}
        </a>
      ),
  });
  const mergeRows = <T extends { dataset: number }>(rows: readonly T[], key: (row: T) => string): T[][] => {
    const groups = new Map<string, T[]>();
    for (const row of rows) {
      const group = groups.get(key(row));
      group ? group.push(row) : groups.set(key(row), [row]);
    }
    return [...groups.values()];
  };
  const correctShares = (rows: readonly { mentions: number; correct: (number | null)[] }[]) =>
    systems.map((system) => {
      const scoredRows = rows.filter((row) => row.correct[system] !== null),
        mentionCount = scoredRows.reduce((sum, row) => sum + row.mentions, 0);
      return mentionCount ? scoredRows.reduce((sum, row) => sum + row.correct[system]!, 0) / mentionCount : null;
    });
  // A cell with links to the cases of each dataset.
  const datasetCell = (rows: readonly { dataset: number }[], query: Record<string, string>): Cell => {
    const datasetIndexes = [...new Set(rows.map((row) => row.dataset))];
    return {
      text: datasetIndexes.map((datasetIndex) => datasets[datasetIndex].name).join(", "),
      content: (
        <span class="whole">
          {datasetIndexes.map((datasetIndex, index) => (
            <>
              {index > 0 && ", "}
              <a key={datasetIndex} href={pageUrl("cases", { ...query, dataset: datasets[datasetIndex].key })}>
                {datasets[datasetIndex].name}
              </a>
            </>
          ))}
        </span>
      ),
    };
  };
  const entityId = (entity: number) => (entity < 0 ? entityName(entity) : resource.entities[entity]);
  const countMentions = (rows: readonly { mentions: number }[]) => rows.reduce((sum, row) => sum + row.mentions, 0);
  if (list === "confusions") {
    const hiddenSet = getHiddenSystems();
    const rows = mergeRows(
      resource.confusions.filter((row) => !hiddenSet.has(row.system)),
      (row) => `${row.gold} ${row.predicted}`,
    ).map(
      (group): ListRow => ({
        searchText: `${entityName(group[0].gold)}\n${entityName(group[0].predicted)}`,
        cells: [
          entityCell(group[0].gold, group[0].dataset),
          entityCell(group[0].predicted, group[0].dataset),
          datasetCell(group, { entity: entityId(group[0].gold), kind: "wrong link" }),
        ],
        count: group.reduce((sum, row) => sum + row.count, 0),
        url: null,
        shares: [],
        systemTitles: [...new Set(group.map((row) => systemTitle(row.system)))].join(", "),
      }),
    );
    return {
      columns: [{ title: "gold" }, { title: "prediction" }, { title: "datasets" }],
      rows,
      systems,
      omittedCount: resource.omitted[2],
    };
  }
  if (list === "surfaces") {
    const rows = mergeRows(resource.surfaces, (row) => row.surface).map(
      (group): ListRow => ({
        searchText: group[0].surface,
        cells: [
          {
            text: group[0].surface,
            content: (
              <a
                href={pageUrl("mention", { dataset: datasets[group[0].dataset].key, surface: group[0].surface })}
                dir="auto"
              >
                {group[0].surface}
              </a>
            ),
          },
          datasetCell(group, { surface: group[0].surface }),
        ],
        count: countMentions(group),
        url: null,
        shares: correctShares(group),
        systemTitles: "",
      }),
    );
    return { columns: [{ title: "surface" }, { title: "datasets" }], rows, systems, omittedCount: resource.omitted[1] };
  }
  const rows = mergeRows(
    resource.rows.filter((row) => row.mentions),
    (row) => String(row.entity),
  ).map(
    (group): ListRow => ({
      searchText: `${entityName(group[0].entity)}\n${group[0].entity < 0 ? "" : resource.entities[group[0].entity]}`,
      cells: [entityCell(group[0].entity, group[0].dataset), datasetCell(group, { entity: entityId(group[0].entity) })],
      count: countMentions(group),
      url: null,
      shares: correctShares(group),
      systemTitles: "",
    }),
  );
  return { columns: [{ title: "entity" }, { title: "datasets" }], rows, systems, omittedCount: resource.omitted[0] };
}

interface Confusion {
  gold: number;
  prediction: number;
  tracks: number[];
  count: number;
}

function findConfusions(data: Data, tracks: readonly number[]): Confusion[] {
  const confusions = new Map<string, Confusion>();
  for (const t of tracks) {
    const track = data.tracks[t];
    for (let row = 0; row < track.gold.length; row++) {
      if (track.kind[row] !== WRONG_LINK) continue;
      const gold = data.resource.gold.entity[track.gold[row]],
        prediction = track.entity[row];
      const confusion = confusions.get(`${gold} ${prediction}`) ?? { gold, prediction, tracks: [], count: 0 };
      confusion.count++;
      if (!confusion.tracks.includes(t)) confusion.tracks.push(t);
      confusions.set(`${gold} ${prediction}`, confusion);
    }
  }
  return [...confusions.values()].sort((a, b) => b.count - a.count);
}

/** Outcomes of each system on the cases that a predicate selects. */
function Outcomes({
  data,
  tracks,
  query,
  predicate,
}: {
  data: Data;
  tracks: readonly number[];
  query: Record<string, string>;
  predicate: (track: number, row: number) => boolean;
}) {
  const columns: Column[] = [
    { title: "system" },
    ...data.resource.kinds.map((kind): Column => ({ title: kind, kind: "number" })),
  ];
  const rows = tracks.map((t): Cell[] => {
    const track = data.tracks[t],
      counts = data.resource.kinds.map(() => 0);
    for (let row = 0; row < track.gold.length; row++) if (predicate(t, row)) counts[track.kind[row]]++;
    return [
      { text: systemTitle(track.system) },
      ...counts.map(
        (count, kind): Cell => ({
          text: formatNumber(count),
          content: count ? (
            <a href={pageUrl("cases", { ...query, system: systemName(track.system), kind: data.resource.kinds[kind] })}>
              {formatNumber(count)}
            </a>
          ) : (
            <span class="quiet">0</span>
          ),
        }),
      ),
    ];
  });
  return <Sheet name="Outcomes" columns={columns} rows={rows} />;
}

/** Mentions in context, with the number of systems that link them correctly. */
function MentionTable({
  data,
  dataset,
  mentions,
  tracks,
}: {
  data: Data;
  dataset: string;
  mentions: readonly number[];
  tracks: readonly number[];
}) {
  const { gold } = data.resource,
    visibleMentions = mentions.slice(0, getRowLimit());
  const texts = useTexts(
    dataset,
    data,
    visibleMentions.map((g) => gold.document[g]),
  );
  const rows = visibleMentions.map((g): Cell[] => {
    const doc = gold.document[g],
      scoredTracks = tracks.filter((t) => data.getKind(t, g) !== UNCOUNTED_CASE),
      correctTracks = scoredTracks.filter((t) => data.getKind(t, g) === CORRECT_LINK);
    return [
      {
        text: data.getGoldSurface(g),
        content: (
          <a
            class="plain"
            href={pageUrl("text", {
              dataset,
              doc: data.resource.documents[doc].id,
              at: `${gold.start[g]}-${gold.end[g]}`,
            })}
          >
            <MentionContext
              stretches={texts.value?.get(doc)}
              start={gold.start[g]}
              end={gold.end[g]}
              surface={data.getGoldSurface(g)}
            />
          </a>
        ),
      },
      {
        text: data.getName(gold.entity[g]),
        content: <EntityLink data={data} entity={gold.entity[g]} dataset={dataset} />,
      },
      {
        text: scoredTracks.length ? `${correctTracks.length} of ${scoredTracks.length}` : "not counted",
        content: scoredTracks.length ? (
          <a
            class="plain"
            title={correctTracks.map((t) => systemTitle(data.tracks[t].system)).join(", ") || "no system"}
            href={pageUrl("cases", { dataset, doc: data.resource.documents[doc].id, surface: data.getGoldSurface(g) })}
          >
            {correctTracks.length} of {scoredTracks.length}
          </a>
        ) : (
          <span class="quiet">not counted</span>
        ),
      },
      {
        text: data.getTitle(doc),
        content: (
          <span class="quiet" dir="auto">
            {data.getTitle(doc)}
          </span>
        ),
      },
    ];
  });
  if (!rows.length) return null;
  return (
    <section>
      <h2>Mentions</h2>
      <Sheet
        name="Mentions"
        columns={[
          { title: "mention in context" },
          { title: "gold" },
          { title: "correct systems", kind: "number" },
          { title: "document", isMinor: true },
        ]}
        rows={rows}
      />
      <MoreLink count={visibleMentions.length} total={mentions.length} unit="mentions" />
    </section>
  );
}

function ConfusionList({
  data,
  dataset,
  confusions,
  side,
}: {
  data: Data;
  dataset: string;
  confusions: readonly Confusion[];
  side: "gold" | "prediction";
}) {
  return (
    <ul>
      {confusions.slice(0, 40).map((confusion) => (
        <li key={`${confusion.gold} ${confusion.prediction}`}>
          <EntityLink data={data} entity={confusion[side]} dataset={dataset} />{" "}
          <span class="quiet">
            {confusion.count === 1 ? "once" : `${confusion.count} times`}, by{" "}
            {confusion.tracks.map((t) => systemTitle(data.tracks[t].system)).join(", ")}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Links to an entity in other datasets. */
function OtherDatasets({ id, dataset }: { id: string; dataset: string }) {
  const { datasets } = leaderboardState.value!,
    hasOthers = datasets.filter((item) => item.cases).length > 1;
  const state = useResource(
    () => (hasOthers ? resources.loadResource("entities") : Promise.reject(new Error("one dataset"))),
    String(hasOthers),
  );
  const entityIndex = state.value?.entities.indexOf(id) ?? -1;
  const rows = (state.value?.rows ?? []).filter(
    (row) => row.entity === entityIndex && row.mentions && datasets[row.dataset].key !== dataset,
  );
  if (entityIndex < 0 || !rows.length) return null;
  return (
    <span class="quiet">
      Also in{" "}
      {rows.map((row, index) => (
        <>
          {index > 0 && ", "}
          <a key={row.dataset} href={pageUrl("entity", { dataset: datasets[row.dataset].key, entity: id })}>
            {datasets[row.dataset].name}
          </a>{" "}
          ({formatNumber(row.mentions)})
        </>
      ))}
    </span>
  );
}

function EntityReport({ data, dataset }: { data: Data; dataset: string }) {
  const id = route.value.query.entity ?? "",
    entity = data.findEntity(id),
    tracks = getVisibleTracks(data),
    { gold } = data.resource;
  const mentions = gold.entity.flatMap((goldEntity, g) => (goldEntity === entity ? [g] : []));
  const confusions = findConfusions(data, tracks),
    wrongPredictions = confusions.filter((item) => item.gold === entity),
    confusedMentions = confusions.filter((item) => item.prediction === entity);
  const url = entityPageUrl(id),
    types = [...new Set(mentions.flatMap((g) => data.resource.types[gold.types[g]]))];
  return (
    <>
      <h1 dir="auto">{data.findName(id)}</h1>
      <p class="summary">
        {url ? (
          <a href={url} target="_blank" rel="noopener noreferrer">
            {id}
          </a>
        ) : (
          id
        )}
        {data.getDescription(entity) && (
          <>
            , <span dir="auto">{data.getDescription(entity)}</span>
          </>
        )}
        : <b>{formatNumber(mentions.length)}</b> {pluralise(mentions.length, "mention")} in the gold standard
        {mentions.length > 0 && (
          <>
            , as{" "}
            {countItems(mentions.map((g) => data.getGoldSurface(g)))
              .slice(0, 8)
              .map(([surface, count], index) => (
                <>
                  {index > 0 && ", "}
                  <a key={surface} href={pageUrl("mention", { dataset, surface })} dir="auto">
                    “{surface}”
                  </a>
                  {count > 1 && <span class="quiet"> {count}</span>}
                </>
              ))}
          </>
        )}
        .{types.length > 0 && <span class="quiet"> Types: {types.join(", ")}.</span>}
      </p>
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <a href={pageUrl("entities", { dataset })}>all entities</a>
        <OtherDatasets id={id} dataset={dataset} />
        <HiddenSystems />
      </Toolbar>
      <Outcomes
        data={data}
        tracks={tracks}
        query={{ dataset, entity: id }}
        predicate={(t, row) => {
          const track = data.tracks[t];
          return track.entity[row] === entity || (track.gold[row] >= 0 && gold.entity[track.gold[row]] === entity);
        }}
      />
      {wrongPredictions.length > 0 && (
        <section>
          <h2>Wrong predictions for this entity</h2>
          <ConfusionList data={data} dataset={dataset} confusions={wrongPredictions} side="prediction" />
        </section>
      )}
      {confusedMentions.length > 0 && (
        <section>
          <h2>Gold entities wrongly linked to this entity</h2>
          <ConfusionList data={data} dataset={dataset} confusions={confusedMentions} side="gold" />
        </section>
      )}
      <MentionTable data={data} dataset={dataset} mentions={mentions} tracks={tracks} />
    </>
  );
}

function SurfaceReport({ data, dataset }: { data: Data; dataset: string }) {
  const surface = route.value.query.surface ?? "",
    tracks = getVisibleTracks(data),
    { gold } = data.resource;
  const mentions = gold.start.flatMap((_, g) => (data.getGoldSurface(g) === surface ? [g] : []));
  const entities = countItems(mentions.map((g) => gold.entity[g]));
  const predictions = new Map<number, Set<number>>();
  for (const t of tracks)
    for (let row = 0; row < data.tracks[t].gold.length; row++) {
      const track = data.tracks[t];
      if (track.start[row] >= 0 && data.getSurface({ track: t, row }) === surface)
        predictions.set(track.entity[row], (predictions.get(track.entity[row]) ?? new Set()).add(t));
    }
  const rows = [...predictions]
    .sort((a, b) => b[1].size - a[1].size)
    .map(([entity, trackSet]): Cell[] => [
      { text: data.getName(entity), content: <EntityLink data={data} entity={entity} dataset={dataset} /> },
      { text: entities.some(([goldEntity]) => goldEntity === entity) ? "yes" : "no" },
      {
        text: formatNumber(trackSet.size),
        content: (
          <a href={pageUrl("cases", { dataset, surface, entity: data.getId(entity) })}>{formatNumber(trackSet.size)}</a>
        ),
      },
      { text: [...trackSet].map((t) => systemTitle(data.tracks[t].system)).join(", ") },
    ]);
  return (
    <>
      <h1 dir="auto">“{surface}”</h1>
      <p class="summary">
        <b>{formatNumber(mentions.length)}</b> {pluralise(mentions.length, "mention")} in the gold standard
        {entities.length > 0 && (
          <>
            , referring to{" "}
            {entities.slice(0, 8).map(([entity, count], index) => (
              <>
                {index > 0 && ", "}
                <EntityLink key={entity} data={data} entity={entity} dataset={dataset} />
                {count > 1 && <span class="quiet"> {count}</span>}
              </>
            ))}
          </>
        )}
        .
      </p>
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <a href={pageUrl("entities", { dataset, show: "surfaces" })}>all surfaces</a>
        <HiddenSystems />
      </Toolbar>
      <Outcomes
        data={data}
        tracks={tracks}
        query={{ dataset, surface }}
        predicate={(t, row) =>
          data.getSurface({ track: t, row }) === surface ||
          (data.tracks[t].gold[row] >= 0 && data.getGoldSurface(data.tracks[t].gold[row]) === surface)
        }
      />
      {rows.length > 0 && (
        <section>
          <h2>Predictions</h2>
          <Sheet
            name="Predictions"
            columns={[
              { title: "prediction" },
              { title: "in the gold standard" },
              { title: "systems", kind: "number" },
              { title: "system names" },
            ]}
            rows={rows}
          />
        </section>
      )}
      <MentionTable data={data} dataset={dataset} mentions={mentions} tracks={tracks} />
    </>
  );
}

export const PAGE: Page = { title: "Entities", group: "Data", position: 20, Content: Entities };

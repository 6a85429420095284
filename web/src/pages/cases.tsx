// The cases behind a score.

import {
  DatasetSelect,
  EmptyState,
  EntityLink,
  formatNumber,
  GoldEntities,
  getHiddenSystems,
  getRowLimit,
  getSelectedDataset,
  getSystemNames,
  getVisibleTracks,
  HiddenSystems,
  KindLabel,
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
  useTexts,
  WrongSpanNote,
} from "../components";
import { type Case, COVERAGE_TITLES, countItems, type Data, ERROR_KINDS, type Filter, WRONG_SPAN } from "../data";
import type { Page } from "../page";
import { currentUrl, pageUrl, route } from "../route";
import { type Cell, type Column, Sheet } from "../sheet";

export function Cases() {
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
  return (
    <Loader state={useData(dataset.key)}>
      {(data) => <CaseList data={data} key={dataset.key} dataset={dataset.key} />}
    </Loader>
  );
}

const NO_CASES =
  "No cases: the report was built from result files, or its task has no mentions. " +
  "Pass the gold file and predictions:";

export function NoCases({ isHeading = true }: { isHeading?: boolean }) {
  return (
    <EmptyState
      isHeading={isHeading}
      message={NO_CASES}
      command="karat report --gold GOLD PREDICTIONS… --to html --out report.html"
    />
  );
}

export function parseFilter(query: Readonly<Record<string, string>>): Filter {
  const { system, kind, error, avoided, entity, surface, type, label, is, who, find } = query;
  return { system, kind, error, avoided, entity, surface, type, label, is, who, find };
}

function CaseList({ data, dataset }: { data: Data; dataset: string }) {
  const { query } = route.value;
  const filter = { ...parseFilter(query), doc: query.doc };
  const hiddenSet = getHiddenSystems();
  const filterVisible = (cases: Case[]) =>
    query.system ? cases : cases.filter((item) => !hiddenSet.has(data.tracks[item.track].system));
  const allCases = filterVisible(
    data.filterCases({ ...filter, kind: undefined }, getSystemNames(), getVisibleTracks(data)),
  );
  const kinds = countItems(allCases.map((item) => data.tracks[item.track].kind[item.row]));
  const cases = query.kind
    ? filterVisible(data.filterCases(filter, getSystemNames(), getVisibleTracks(data)))
    : allCases;
  const visibleCases = cases.slice(0, getRowLimit());
  const texts = useTexts(
    dataset,
    data,
    visibleCases.map((item) => data.tracks[item.track].document[item.row]),
  );
  const hasSystemColumn = !query.system && data.tracks.length > 1;
  const columns: Column[] = [
    { title: "mention in context" },
    ...(hasSystemColumn ? [{ title: "system" }] : []),
    { title: "outcome" },
    { title: "gold" },
    { title: "prediction" },
    { title: "error categories", isMinor: true },
    { title: "document", isMinor: true },
  ];
  const rows = visibleCases.map((item): Cell[] => {
    const track = data.tracks[item.track];
    const g = track.gold[item.row],
      doc = track.document[item.row];
    const [start, end] = data.getSpan(item);
    const goldEntity = g < 0 ? null : data.resource.gold.entity[g];
    const prediction = track.start[item.row] < 0 ? null : track.entity[item.row];
    const url = pageUrl("text", {
      dataset,
      doc: data.resource.documents[doc].id,
      at: `${start}-${end}`,
      ...parseFilter(query),
      system: query.system ?? "",
    });
    const errors = data.getErrors(item);
    return [
      {
        text: data.getSurface(item),
        content: (
          <a href={url} class="plain">
            <MentionContext stretches={texts.value?.get(doc)} start={start} end={end} surface={data.getSurface(item)} />
          </a>
        ),
      },
      ...(hasSystemColumn ? [{ text: systemTitle(track.system) }] : []),
      {
        text: data.resource.kinds[track.kind[item.row]],
        content: <KindLabel data={data} kind={track.kind[item.row]} />,
      },
      {
        text: goldEntity === null ? "" : data.getName(goldEntity),
        content:
          goldEntity === null ? (
            <span class="quiet">no gold mention</span>
          ) : (
            <GoldEntities data={data} mention={g} dataset={dataset} />
          ),
      },
      {
        text: prediction === null ? "" : data.getName(prediction),
        content:
          prediction === null ? (
            <span class="quiet">no prediction</span>
          ) : (
            <EntityLink data={data} entity={prediction} dataset={dataset} />
          ),
      },
      {
        text: errors.join(", "),
        content: <span class="quiet">{errors.map((error) => data.getCategory(error).title).join(", ")}</span>,
      },
      {
        text: data.resource.documents[doc].id,
        content: (
          <span class="quiet" dir="auto">
            {data.getTitle(doc)}
          </span>
        ),
      },
    ];
  });
  const group = data.findGroup(query.label, query.is);
  const filterText = [
    query.error && `in the category “${data.getCategory(query.error).title}”`,
    query.avoided && `that avoid the error “${data.getCategory(query.avoided).title}”`,
    query.entity && `with the entity ${data.findName(query.entity)}`,
    query.surface && `with the surface “${query.surface}”`,
    query.type && `of type ${query.type}`,
    query.is && `in the group “${group?.title ?? query.is}”${group ? ` (${group.facet.title.toLowerCase()})` : ""}`,
    COVERAGE_TITLES[query.who ?? ""],
    query.doc &&
      (data.findDocument(query.doc) < 0
        ? `in the document “${query.doc}”, which the dataset does not have`
        : `in ${data.getTitle(data.findDocument(query.doc))}`),
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <>
      <h1 class="summary">
        <b>{formatNumber(cases.length)}</b> {pluralise(cases.length, "case")}
        {getSystemNames().includes(query.system) && ` of ${systemTitle(getSystemNames().indexOf(query.system))}`}
        {filterText && ` ${filterText}`}
        {query.kind ? (
          <>
            {" "}
            with the outcome {query.kind.split(",").join(" or ")}, out of {formatNumber(allCases.length)}
          </>
        ) : kinds.length ? (
          <>
            :{" "}
            {kinds.map(([kind, count], index) => (
              <>
                {index > 0 && ", "}
                <a href={currentUrl({ kind: data.resource.kinds[kind] })}>
                  {formatNumber(count)} {data.resource.kinds[kind]}
                </a>
              </>
            ))}
          </>
        ) : null}
        .
      </h1>
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <Select
          label="system"
          name="system"
          value={query.system ?? ""}
          options={[
            ["", "all systems"],
            ...data.tracks.map((track) => [systemName(track.system), systemTitle(track.system)] as const),
          ]}
        />
        <Select
          label="outcome"
          name="kind"
          value={query.kind ?? ""}
          options={[
            ["", "any outcome"],
            [ERROR_KINDS.map((kind) => data.resource.kinds[kind]).join(","), "any error"],
            ...data.resource.kinds.map((kind) => [kind, kind] as const),
          ]}
        />
        <Select
          label="error category"
          name="error"
          value={query.error ?? ""}
          options={[
            ["", "all"],
            ...data.resource.categories.map((category) => [category, data.getCategory(category).title] as const),
          ]}
        />
        <SearchField label="search" name="find" />
        {!query.system && <HiddenSystems />}
        {(query.avoided || query.entity || query.surface || query.doc || query.type || query.is || query.who) && (
          <a href={pageUrl("cases", { dataset, system: query.system })}>all cases</a>
        )}
      </Toolbar>
      {cases.length ? <Sheet name="Cases" columns={columns} rows={rows} /> : <p>No matching cases.</p>}
      {cases.some(({ track, row }) => data.tracks[track].kind[row] === WRONG_SPAN) && <WrongSpanNote />}
      <MoreLink count={visibleCases.length} total={cases.length} unit="cases" />
      {!leaderboardState.value!.datasets.find((item) => item.key === dataset)!.texts && (
        <p class="quiet">This report contains no texts (--texts none). Cases are listed by their offsets.</p>
      )}
    </>
  );
}

export const PAGE: Page = { title: "Cases", group: "Errors", position: 20, Content: Cases };

// Slices: the leaderboard of one dataset by error category or facet, shaded by column.
import type { ComponentChildren } from "preact";
import {
  EmptyState,
  formatCount,
  formatNumber,
  formatPercent,
  getSelectedDataset,
  Loader,
  leaderboardState,
  MultiSelect,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useResource,
} from "./components";
import { CORRECT_LINK, ERROR_KINDS, KINDS } from "./data";
import { CategoryDefinition, FacetDefinition } from "./definition";
import { NoCases } from "./pages/cases";
import { listUndefinedCategories } from "./pages/errors";
import * as resources from "./resources";
import { pageUrl, type QueryChanges, route, updateQuery } from "./route";
import type { DatasetInfo, GroupsResource } from "./shape";
import { type Cell, type Column, getSortOrder, rankRows, Sheet } from "./sheet";

interface BreakdownProps {
  dataset: DatasetInfo;
  systems: readonly number[];
  systemCell: (system: number) => Cell;
  controls: ComponentChildren;
  filters: ComponentChildren;
}

/** The counts behind a cell: k of n, with links to the k cases and to the other cases. */
interface CellCounts {
  k: number;
  n: number | null;
  /** Names of the k cases and of the other cases. */
  titles: readonly [string, string];
  urls: readonly [string | null, string | null];
}

/** A column of the breakdown, with the value and the URL of each system's cell. */
interface BreakdownColumn {
  key: string;
  title: string;
  note?: string;
  definition?: ComponentChildren;
  value: (system: number) => number | null;
  format: (system: number) => string;
  url: (system: number) => string | null;
  interval: (system: number) => readonly [number | null, number | null];
  counts: (system: number) => CellCounts | null;
  /** Why a system has no value. */
  reason?: (system: number) => string | null;
}

/** The value of the control for error categories, besides the names of facets. */
const ERROR_SLICE = "errors";

/** The control that divides the leaderboard by a facet or by error category. */
export function SliceSelect() {
  const { query } = route.value,
    { datasets } = leaderboardState.value!;
  const facets = new Map(datasets.flatMap((dataset) => dataset.facets));
  const firstFacet = getSelectedDataset((item) => item.groups)!.facets[0]?.[0] ?? "";
  const value = query.show === "errors" ? ERROR_SLICE : query.show === "types" ? (query.label ?? firstFacet) : "";
  const selectSlice = (name: string) => {
    const hasFacet = (dataset: DatasetInfo) => dataset.facets.some(([facet]) => facet === name),
      selected = datasets.find((dataset) => dataset.key === query.dataset);
    updateQuery({
      show: name === ERROR_SLICE ? "errors" : name ? "types" : "",
      label: name === ERROR_SLICE ? "" : name,
      dataset: !facets.has(name) || (selected && hasFacet(selected)) ? query.dataset : datasets.find(hasFacet)?.key,
      columns: "",
      sort: "",
    });
  };
  return (
    <label class="choice">
      <span>slice by</span>
      <select value={value} onChange={(event) => selectSlice(event.currentTarget.value)}>
        <option value="">nothing</option>
        {[...facets].map(([name, title]) => (
          <option value={name} key={name}>
            {title.toLowerCase()}
          </option>
        ))}
        <option value={ERROR_SLICE}>error category</option>
      </select>
    </label>
  );
}

const DEFAULT_COLUMNS = 8;

function BreakdownTable({
  columnsLabel,
  heading,
  groups,
  defaultKeys,
  systems,
  systemCell,
  controls,
  filters,
  extraControls,
  description,
  isLowerBetter,
}: BreakdownProps & {
  columnsLabel: string;
  heading: (column: BreakdownColumn | undefined) => ComponentChildren;
  groups: readonly BreakdownColumn[];
  defaultKeys: readonly string[];
  extraControls?: ComponentChildren;
  description: string;
  isLowerBetter: boolean;
}) {
  const { query } = route.value;
  const queryKeys = (query.columns ?? "").split("|").filter((key) => groups.some((group) => group.key === key));
  const selection = queryKeys.length ? queryKeys : defaultKeys;
  const visibleGroups = groups.filter((group) => selection.includes(group.key));
  const sortGroup = visibleGroups.find((group) => group.key === getSortOrder().key);
  const ranking = sortGroup ? rankRows(systems, sortGroup.value) : systems;
  const columns: Column[] = [
    { title: "system" },
    ...visibleGroups.map(
      (group, index): Column => ({
        title: group.title,
        kind: "number",
        sortKey: group.key,
        isMinor: index >= 6,
        content: (
          <>
            {group.title.split(":").map((line, index) =>
              index ? (
                <>
                  :<wbr />
                  {line}
                </>
              ) : (
                line
              ),
            )}
            {group.note && (
              <>
                <br />
                <span class="quiet">{group.note}</span>
              </>
            )}
          </>
        ),
        extra: group.definition,
      }),
    ),
  ];
  const body = ranking.map((system): Cell[] => [
    systemCell(system),
    ...visibleGroups.map((group): Cell => {
      const values = systems.map(group.value).filter((value) => value !== null),
        value = group.value(system);
      const low = Math.min(...values),
        high = Math.max(...values);
      const heat = value === null || high === low ? undefined : (value - low) / (high - low);
      const text = group.format(system),
        url = value === null ? null : group.url(system);
      return {
        text,
        heat,
        isBest: value !== null && high > low && value === (isLowerBetter ? low : high),
        content: (
          <span class="slice">
            {url ? (
              <a href={url}>
                <span class="figure">{text}</span>
              </a>
            ) : (
              <span class="figure" title={group.reason?.(system) ?? undefined}>
                {text}
              </span>
            )}
            {value !== null && <CellDetails column={group} system={system} />}
          </span>
        ),
      };
    }),
  ]);
  return (
    <>
      <h1 class="summary">{heading(sortGroup ?? visibleGroups[0])}</h1>
      <Toolbar>
        {controls}
        <MultiSelect
          label={columnsLabel}
          options={groups.map((group) => [group.key, group.title])}
          selection={selection}
          onChange={(keys) => updateQuery({ columns: keys.join("|") })}
        />
        {extraControls}
        {filters}
      </Toolbar>
      <Sheet name="Leaderboard" columns={columns} rows={body} />
      <p class="quiet prose">
        {description} In brackets: 95 % confidence intervals; there is none if all samples of documents give the same
        value. Darker cells have higher values within their column. Bold: best value
        {systems.length < leaderboardState.value!.systems.length &&
          ` of the ${formatCount(systems.length, "system")} shown`}
        .{groups.some((group) => systems.some(group.url)) && " Select a value to see its cases."}
      </p>
    </>
  );
}

/** The interval of a cell, and its counts with links to the cases. */
function CellDetails({ column, system }: { column: BreakdownColumn; system: number }) {
  const [low, high] = column.interval(system),
    counts = column.counts(system);
  const caseLink = (side: 0 | 1, text: string) => {
    const url = counts!.urls[side];
    return url ? (
      <a href={url} aria-label={`${text}: ${counts!.titles[side]} of ${systemTitle(system)}, ${column.title}`}>
        {text}
      </a>
    ) : (
      text
    );
  };
  return (
    <>
      {low !== null && high !== null && (
        <span class="quiet">
          [{formatPercent(low)}, {formatPercent(high)}]
        </span>
      )}
      {counts && (
        <span class="quiet">
          {caseLink(0, formatNumber(counts.k))}
          {counts.n !== null && ` of ${formatNumber(counts.n)}`}
          {counts.urls[1] && <> · {caseLink(1, counts.titles[1])}</>}
        </span>
      )}
    </>
  );
}

/** Find the best of the systems shown in a column. */
function findBest(column: BreakdownColumn, systems: readonly number[], isLowerBetter: boolean) {
  const values = systems.map(column.value).filter((value) => value !== null);
  if (!values.length) return null;
  const best = isLowerBetter ? Math.min(...values) : Math.max(...values),
    leaders = systems.filter((system) => column.value(system) === best);
  return { leaders, text: column.format(leaders[0]) };
}

/** Error counts or error rates of each system by category. */
export function CategoryBreakdown(props: BreakdownProps) {
  const { dataset } = props;
  const datasetIndex = leaderboardState.value!.datasets.indexOf(dataset);
  const state = useResource(() => resources.loadResource("errors"), "errors");
  return (
    <Loader state={state}>
      {(resource) => {
        const isRate = route.value.query.by !== "count";
        const counts = new Map(
          resource.counts.filter((entry) => entry.dataset === datasetIndex).map((entry) => [entry.system, entry]),
        );
        if (!counts.size)
          return (
            <>
              <Toolbar>{props.controls}</Toolbar>
              <NoCases />
            </>
          );
        const caseUrl = (system: number, filter: QueryChanges) =>
          pageUrl("cases", { dataset: dataset.key, system: systemName(system), ...filter });
        const groups = resource.categories
          .map((category, index): BreakdownColumn => {
            const value = (system: number) => {
              const entry = counts.get(system),
                errors = entry?.errors[index] ?? null;
              return errors === null
                ? null
                : isRate
                  ? entry!.total[index]
                    ? errors / entry!.total[index]!
                    : null
                  : errors;
            };
            return {
              key: category.name,
              title: category.title,
              definition: <CategoryDefinition category={category} />,
              value,
              format: (system) =>
                isRate ? formatPercent(value(system)) : value(system) === null ? "–" : formatNumber(value(system)!),
              url: (system) => (dataset.cases ? caseUrl(system, { error: category.name }) : null),
              interval: (system) =>
                isRate ? [counts.get(system)!.low[index], counts.get(system)!.high[index]] : [null, null],
              counts: (system) => ({
                k: counts.get(system)!.errors[index]!,
                n: counts.get(system)!.total[index],
                titles: ["errors", "avoided"],
                urls: [
                  dataset.cases ? caseUrl(system, { error: category.name }) : null,
                  dataset.cases && category.has_avoided_cases ? caseUrl(system, { avoided: category.name }) : null,
                ],
              }),
              reason: (system) => counts.get(system)?.undefined[index] ?? null,
            };
          })
          .filter((group) => props.systems.some((system) => group.value(system)));
        const groupHeads = resource.categories
          .filter(
            (category, index, categories) => categories.findIndex((item) => item.group === category.group) === index,
          )
          .map((category) => category.name);
        const defaultKeys = groups
          .filter((group, index) => groupHeads.includes(group.key) || index < DEFAULT_COLUMNS)
          .map((group) => group.key);
        return (
          <BreakdownTable
            {...props}
            columnsLabel="categories"
            heading={(column) => {
              const best = column && findBest(column, props.systems, true);
              return best ? (
                <>
                  <b>{best.leaders.map(systemTitle).join(", ")}</b> {best.leaders.length > 1 ? "have" : "has"} the{" "}
                  {isRate ? "lowest error rate" : "fewest errors"} in “{column.title}” on {dataset.name}: {best.text}
                  {isRate && " %"}.
                </>
              ) : (
                `Errors of each system on ${dataset.name}, by category.`
              );
            }}
            groups={groups}
            defaultKeys={defaultKeys}
            isLowerBetter
            description={[
              isRate ? "Error rates in percent of the cases where the error is possible." : "Error counts.",
              ...listUndefinedCategories(
                resource,
                props.systems.flatMap((system) => counts.get(system) ?? []),
              ),
            ].join(" ")}
            extraControls={
              <Select
                label="values"
                name="by"
                value={isRate ? "" : "count"}
                options={[
                  ["", "rates"],
                  ["count", "counts"],
                ]}
              />
            }
          />
        );
      }}
    </Loader>
  );
}

const MEASURES: readonly (readonly [string, string, string])[] = [
  ["f1", "F1", "micro.f1"],
  ["p", "Precision", "micro.p"],
  ["r", "Recall", "micro.r"],
];

/** Scores of each system by the groups of a facet. */
export function FacetBreakdown(props: BreakdownProps) {
  const { dataset } = props;
  if (!dataset.groups)
    return (
      <>
        <Toolbar>{props.controls}</Toolbar>
        <EmptyState
          isHeading
          message="No scores by facet. Build the report from the gold standard and predictions:"
          command="karat report --gold GOLD PREDICTIONS… --to html --out report.html"
        />
      </>
    );
  return (
    <Loader state={useResource(() => resources.loadResource("groups", dataset.key), dataset.key)}>
      {(resource) => <FacetTable {...props} resource={resource} />}
    </Loader>
  );
}

function FacetTable({ resource, ...props }: BreakdownProps & { resource: GroupsResource }) {
  const { dataset } = props,
    { query } = route.value;
  const facet = resource.facets.find((item) => item.name === query.label) ?? resource.facets[0];
  const measures = MEASURES.filter(([, , measure]) =>
    facet.tables.some(
      (table) =>
        table.measure === measure && props.systems.some((system) => table.value.some((row) => row[system] !== null)),
    ),
  );
  const [key, measureTitle, measure] =
    measures.find(([key]) => key === query.as) ?? (facet.caveats.length ? measures.at(-1) : measures[0]) ?? MEASURES[0];
  const table = facet.tables.find((item) => item.measure === measure)!;
  const doubts = facet.caveats
    .filter(([system]) => props.systems.includes(system))
    .map(([system, doubt]) => ` ${systemTitle(system)}: ${doubt}.`)
    .join("");
  const caseUrl = (system: number, group: string, kind = "") =>
    pageUrl("cases", { dataset: dataset.key, system: systemName(system), label: facet.name, is: group, kind });
  const systemsWithCases = new Set(facet.tracks.map((track) => track.system));
  const groups = facet.values
    .map((group, index): BreakdownColumn => {
      const value = (system: number) => table.value[index][system];
      return {
        key: group.name,
        title: group.title,
        note: `n = ${formatNumber(group.gold)}`,
        value,
        format: (system) => formatPercent(value(system)),
        url: (system) => (systemsWithCases.has(system) ? caseUrl(system, group.name) : null),
        interval: (system) => [table.low[index][system], table.high[index][system]],
        counts: (system) => {
          const k = table.correct[index][system];
          return k === null
            ? null
            : {
                k,
                n: table.total[index][system],
                titles: ["correct", "errors"],
                urls: systemsWithCases.has(system)
                  ? [
                      caseUrl(system, group.name, KINDS[CORRECT_LINK]),
                      caseUrl(system, group.name, ERROR_KINDS.map((kind) => KINDS[kind]).join(",")),
                    ]
                  : [null, null],
              };
        },
      };
    })
    .filter((group) => props.systems.some((system) => group.value(system) !== null));
  // A group without gold mentions has only spurious predictions.
  const emptyGroups = new Set(facet.values.flatMap((group) => (group.gold ? [] : [group.name]))),
    groupsWithGold = groups.filter((group) => !emptyGroups.has(group.key)),
    shownGroups = groupsWithGold.length ? groupsWithGold : groups;
  return (
    <BreakdownTable
      {...props}
      columnsLabel="groups"
      heading={(column) => {
        const best = column && findBest(column, props.systems, false);
        return best ? (
          <>
            <b>{best.leaders.map(systemTitle).join(", ")}</b> {best.leaders.length > 1 ? "share" : "has"} the best{" "}
            {measureTitle} in the group “{column.title}” of {dataset.name}: {best.text}.
          </>
        ) : (
          `${measureTitle} of each system on ${dataset.name}, by ${facet.title.toLowerCase()}.`
        );
      }}
      groups={groups}
      defaultKeys={shownGroups.slice(0, DEFAULT_COLUMNS).map((group) => group.key)}
      isLowerBetter={false}
      description={[
        `${measureTitle} in percent, ${resource.view}.`,
        "n is the number of gold mentions; the largest group comes first.",
        key === "p"
          ? "k of n: correct predictions of all predictions."
          : "k of n: mentions found of all gold mentions.",
        `Missed mentions are included.${key === "r" ? "" : doubts}`,
      ].join(" ")}
      extraControls={
        <>
          <FacetDefinition facet={facet} />
          {measures.length > 1 && (
            <Select label="measure" name="as" value={key} options={measures.map(([key, title]) => [key, title])} />
          )}
        </>
      }
    />
  );
}

// The leaderboard of one dataset by error category or facet, shaded by column.
import type { ComponentChildren } from "preact";
import {
  EmptyState,
  formatCount,
  formatNumber,
  formatPercent,
  Loader,
  leaderboardState,
  MultiSelect,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useResource,
} from "./components";
import { NoCases } from "./pages/cases";
import { listUndefinedCategories } from "./pages/errors";
import * as resources from "./resources";
import { pageUrl, route, updateQuery } from "./route";
import type { DatasetInfo, GroupsResource } from "./shape";
import { type Cell, type Column, getSortOrder, rankRows, Sheet } from "./sheet";

interface BreakdownProps {
  dataset: DatasetInfo;
  systems: readonly number[];
  systemCell: (system: number) => Cell;
  controls: ComponentChildren;
  filters: ComponentChildren;
}

/** A column of the breakdown, with the value and the URL of each system's cell. */
interface BreakdownColumn {
  key: string;
  title: string;
  note?: string;
  description: string;
  value: (system: number) => number | null;
  format: (system: number) => string;
  url: (system: number) => string | null;
  /** Why a system has no value. */
  reason?: (system: number) => string | null;
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
  heading: ComponentChildren;
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
          <span title={group.description}>
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
          </span>
        ),
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
        content: url ? (
          <a href={url}>
            <span class="figure">{text}</span>
          </a>
        ) : (
          <span class="figure" title={group.reason?.(system) ?? undefined}>
            {text}
          </span>
        ),
      };
    }),
  ]);
  return (
    <>
      <h1 class="summary">{heading}</h1>
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
        {description} Darker cells have higher values within their column. Bold: best value
        {systems.length < leaderboardState.value!.systems.length &&
          ` of the ${formatCount(systems.length, "system")} shown`}
        .{groups.some((group) => systems.some(group.url)) && " Select a value to see its cases."}
      </p>
    </>
  );
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
              description: `${category.description} ${category.total_description}`,
              value,
              format: (system) =>
                isRate ? formatPercent(value(system)) : value(system) === null ? "–" : formatNumber(value(system)!),
              url: (system) =>
                pageUrl("cases", { dataset: dataset.key, system: systemName(system), error: category.name }),
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
            heading={
              <>
                Errors of each system on <b>{dataset.name}</b>, by category.
              </>
            }
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
  const systemsWithCases = new Set(facet.tracks.map((track) => track.system));
  const groups = facet.values
    .map((group, index): BreakdownColumn => {
      const value = (system: number) => table.value[index][system];
      return {
        key: group.name,
        title: group.title,
        note: formatNumber(group.gold),
        description: formatCount(group.gold, "mention"),
        value,
        format: (system) => formatPercent(value(system)),
        url: (system) =>
          systemsWithCases.has(system)
            ? pageUrl("cases", { dataset: dataset.key, system: systemName(system), label: facet.name, is: group.name })
            : null,
      };
    })
    .filter((group) => props.systems.some((system) => group.value(system) !== null));
  return (
    <BreakdownTable
      {...props}
      columnsLabel="groups"
      heading={
        <>
          {measureTitle} of each system on <b>{dataset.name}</b>, by {facet.title.toLowerCase()}.
        </>
      }
      groups={groups}
      defaultKeys={groups.slice(0, DEFAULT_COLUMNS).map((group) => group.key)}
      isLowerBetter={false}
      description={[
        facet.description,
        "The number below each group is its number of mentions; the largest group comes first.",
        `${measureTitle} in percent, ${resource.view}.${key === "r" ? "" : doubts}`,
      ].join(" ")}
      extraControls={
        <>
          {resource.facets.length > 1 && (
            <Select
              label="facet"
              name="label"
              value={facet.name}
              options={resource.facets.map((item) => [item.name, item.title.toLowerCase()])}
              reset={{ columns: "", sort: "" }}
            />
          )}
          {measures.length > 1 && (
            <Select label="measure" name="as" value={key} options={measures.map(([key, title]) => [key, title])} />
          )}
        </>
      }
    />
  );
}

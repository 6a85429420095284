// The leaderboard: scores, intervals and significance.

import { CategoryBreakdown, FacetBreakdown, SliceSelect } from "../breakdown";
import {
  formatCount,
  formatHidden,
  formatPercent,
  getHiddenSystems,
  getSelectedDataset,
  getVisibleSystems,
  HIDE_NOTHING,
  HiddenSystems,
  leaderboardState,
  MultiSelect,
  ProfileNotes,
  SearchField,
  Select,
  systemName,
  systemTitle,
  Toolbar,
} from "../components";
import { compilePattern } from "../data";
import { MeasureLabel, measurePhrase, measureTitle } from "../measures";
import type { Page } from "../page";
import { currentUrl, pageUrl, route, updateQuery } from "../route";
import type { CellNote, MeasureTable } from "../shape";
import { type Cell, type Column, getSortOrder, rankRows, Sheet } from "../sheet";
import { SystemDescriptions } from "../systems";
import { Whisker } from "../whisker";

const measureView = (name: string): string => name.slice(0, name.lastIndexOf(":"));

type Range = readonly [number, number];

/** Compute the range of all intervals, rounded outwards to tens of percent. */
function scoreRange(
  tables: readonly MeasureTable[],
  datasetIndexes: readonly number[],
  systems: readonly number[],
): Range {
  let low = Infinity,
    high = -Infinity;
  for (const table of tables)
    for (const datasetIndex of datasetIndexes)
      for (const system of systems)
        for (const bound of [
          table.low[datasetIndex][system],
          table.value[datasetIndex][system],
          table.high[datasetIndex][system],
        ])
          if (bound !== null) {
            low = Math.min(low, bound);
            high = Math.max(high, bound);
          }
  return low <= high ? [Math.floor(10 * low) / 10, Math.ceil(10 * high) / 10] : [0, 1];
}

/** Check whether a value is better than another, in the direction of its measure. */
const isBetter = (table: MeasureTable, a: number, b: number): boolean => (table.direction === "low" ? a < b : a > b);

/** How a score compares with the visible better scores. */
interface Standing {
  /** No better score is significantly better (≈), or the difference from one of them was not tested (?). */
  mark?: "≈" | "?";
  /** Whether a better score is significantly better. */
  isWorse?: boolean;
  description: string;
}

/** Compare a system with all visible systems that have better scores. */
function findStanding(
  table: MeasureTable,
  datasetIndex: number,
  system: number,
  visibleSystems: readonly number[],
): Standing {
  const scores = table.value[datasetIndex],
    testedSystems = table.tested_systems[datasetIndex][system],
    betterSystems = table.better_systems[datasetIndex][system] ?? [];
  const rivals = visibleSystems.filter(
    (rival) => scores[rival] !== null && isBetter(table, scores[rival]!, scores[system]!),
  );
  if (!rivals.length || table.direction === "none") return { description: "" };
  const significantRivals = rivals.filter((rival) => betterSystems.includes(rival)),
    untestedRivals = rivals.filter((rival) => !testedSystems.includes(rival));
  if (significantRivals.length)
    return { isWorse: true, description: `significantly worse than ${joinNames(significantRivals)}` };
  if (untestedRivals.length)
    return { mark: "?", description: `difference from ${joinNames(untestedRivals)} not tested` };
  return { mark: "≈", description: "no system shown is significantly better" };
}

/** Find the best of several values; null if fewer than two are defined, or if the measure has no direction. */
function bestValue(table: MeasureTable, values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null);
  if (numbers.length < 2 || table.direction === "none") return null;
  return table.direction === "low" ? Math.min(...numbers) : Math.max(...numbers);
}

const joinNames = (systems: readonly number[]): string => systems.map(systemTitle).join(", ");

function scoreCell(
  table: MeasureTable,
  datasetIndex: number,
  system: number,
  range: Range,
  bestScore: number | null,
  visibleSystems: readonly number[],
): Cell {
  const leaderboard = leaderboardState.value!,
    dataset = leaderboard.datasets[datasetIndex];
  const value = table.value[datasetIndex][system],
    low = table.low[datasetIndex][system],
    high = table.high[datasetIndex][system];
  const note =
    value === null
      ? leaderboard.notes.find((entry) => entry.dataset === datasetIndex && entry.system === system)
      : undefined;
  const isBest = value !== null && value === bestScore,
    { mark, description } =
      isBest || value === null
        ? ({ description: "" } as Standing)
        : findStanding(table, datasetIndex, system, visibleSystems);
  const intervalText = low !== null && high !== null ? `${formatPercent(low)} to ${formatPercent(high)}` : "";
  const tooltip =
    value === null
      ? (note?.undefined[table.measure] ?? note?.refusals[table.profile] ?? "no predictions")
      : [intervalText, description].filter(Boolean).join("; ");
  const scalePosition = (score: number) => (score - range[0]) / (range[1] - range[0] || 1);
  const interval =
    value === null || low === null || high === null
      ? undefined
      : ([scalePosition(low), scalePosition(value), scalePosition(high)] as const);
  const url =
    table.profile === leaderboard.profile
      ? pageUrl("cases", { dataset: dataset.key, system: systemName(system) })
      : pageUrl("profiles", { dataset: dataset.key, system: systemName(system), theirs: table.profile });
  const figure = (
    <span class="figure">
      {mark && <span class="tie">{mark} </span>}
      {formatPercent(value)}
    </span>
  );
  return {
    text: formatPercent(value),
    isBest: isBest,
    mark,
    interval,
    content: (
      <span title={tooltip}>
        {dataset.cases && value !== null ? <a href={url}>{figure}</a> : figure}
        {interval && <Whisker interval={interval} />}
      </span>
    ),
  };
}

/** A sentence on the significance of a leader's differences from the other visible systems. */
function describeSignificance(
  table: MeasureTable,
  datasetIndex: number,
  leader: number,
  otherSystems: readonly number[],
  isFiltered: boolean,
): string {
  const testedSystems = table.tested_systems[datasetIndex][leader];
  if (!otherSystems.length) return "";
  if (!otherSystems.some((system) => testedSystems.includes(system))) return "Its lead was not tested.";
  const untestedSystems = otherSystems.filter((system) => !testedSystems.includes(system)),
    rivals = otherSystems.filter(
      (system) =>
        testedSystems.includes(system) && !(table.better_systems[datasetIndex][system] ?? []).includes(leader),
    );
  const untestedText = untestedSystems.length ? ` Not tested: ${joinNames(untestedSystems)}.` : "";
  if (rivals.length) return `It is not significantly better than ${joinNames(rivals)}.${untestedText}`;
  const others = untestedSystems.length
    ? joinNames(otherSystems.filter((system) => testedSystems.includes(system)))
    : `${otherSystems.length === 1 ? "the other system" : "all other systems"}${isFiltered ? " shown" : ""}`;
  return `It is significantly better than ${others}.${untestedText}`;
}

/** A sentence that names the best visible system and the significance of its lead. */
function Summary({
  table,
  datasetIndexes,
  systems,
  means,
}: {
  table: MeasureTable;
  datasetIndexes: readonly number[];
  systems: readonly number[];
  means: readonly (number | null)[];
}) {
  const leaderboard = leaderboardState.value!,
    measure = measurePhrase(table.measure);
  const formatLeaders = (leaders: readonly number[], bestText: string) => (
    <>
      <b>{joinNames(leaders)}</b> {leaders.length > 1 ? "share" : "has"} the {bestText}
    </>
  );
  const formatScope = (count: number, total: number) =>
    count < total ? ` of the ${formatCount(count, "system")} shown` : "";
  if (!systems.length) return <h1 class="summary">No matching systems.</h1>;
  if (datasetIndexes.length === 1) {
    const [datasetIndex] = datasetIndexes,
      scores = table.value[datasetIndex],
      datasetName = leaderboard.datasets[datasetIndex].name;
    const scoredSystems = systems.filter((system) => scores[system] !== null);
    if (!scoredSystems.length)
      return (
        <h1 class="summary">
          No system has a score for {measure} on {datasetName}.
        </h1>
      );
    const bestScore = bestValue(
      table,
      scoredSystems.map((system) => scores[system]),
    );
    if (bestScore === null)
      return (
        <h1 class="summary">
          {scoredSystems.length === 1 ? (
            <>
              <b>{systemTitle(scoredSystems[0])}</b> scores {formatPercent(scores[scoredSystems[0]])} {measure} on{" "}
              {datasetName}.
            </>
          ) : (
            `${measureTitle(table.measure)} of ${scoredSystems.length} systems on ${datasetName}. ` +
            "No value of it is better than another."
          )}
        </h1>
      );
    const leaders = scoredSystems.filter((system) => scores[system] === bestScore),
      otherSystems = scoredSystems.filter((system) => scores[system] !== bestScore);
    const allCount = scores.filter((score) => score !== null).length,
      isFiltered = scoredSystems.length < allCount;
    return (
      <h1 class="summary">
        {formatLeaders(leaders, `best ${measure}${formatScope(scoredSystems.length, allCount)}`)} on {datasetName}:{" "}
        {formatPercent(bestScore)}.{" "}
        {leaders.length === 1 && describeSignificance(table, datasetIndex, leaders[0], otherSystems, isFiltered)}
      </h1>
    );
  }
  const bestMean = bestValue(table, means),
    leaders = systems.filter((_, index) => means[index] !== null && means[index] === bestMean);
  if (!leaders.length)
    return (
      <h1 class="summary">
        {systems.length === 1 ? (
          <>
            <b>{systemTitle(systems[0])}</b> on {datasetIndexes.length} datasets
            {means[0] === null ? "" : `: mean ${measure} ${formatPercent(means[0])}`}.
          </>
        ) : (
          `No best mean ${measure}: none of the ${datasetIndexes.length} datasets has predictions from all systems.`
        )}
      </h1>
    );
  const leadersByDataset = datasetIndexes.map((datasetIndex) => {
    const scores = table.value[datasetIndex],
      topScore = bestValue(
        table,
        systems.map((system) => scores[system]),
      );
    return systems.filter((system) => topScore !== null && scores[system] === topScore);
  });
  const scope = formatScope(systems.length, leaderboard.systems.length),
    [leader] = leaders,
    winCount = leadersByDataset.filter((members) => members.includes(leader)).length;
  const otherLeads =
    datasetIndexes.length <= 4
      ? datasetIndexes.flatMap((datasetIndex, index) =>
          leadersByDataset[index].length && !leadersByDataset[index].includes(leader)
            ? [
                `${joinNames(leadersByDataset[index])} ${leadersByDataset[index].length > 1 ? "lead" : "leads"} on ` +
                  leaderboard.datasets[datasetIndex].name,
              ]
            : [],
        )
      : [];
  return (
    <h1 class="summary">
      {formatLeaders(leaders, `best mean ${measure}${scope}`)} over {datasetIndexes.length} datasets:{" "}
      {formatPercent(bestMean)}.{" "}
      {leaders.length === 1 &&
        (winCount === datasetIndexes.length
          ? "It leads on every dataset."
          : `It leads on ${winCount} of them${otherLeads.length ? `; ${otherLeads.join(", ")}` : ""}.`)}
    </h1>
  );
}

const VIEWS: readonly (readonly [string, string])[] = [
  ["", "all datasets"],
  ["measures", "one dataset"],
];

export function Leaderboard() {
  const { query } = route.value;
  const { datasets } = leaderboardState.value!;
  const dataset = getSelectedDataset((item) => query.show !== "types" || item.groups);
  if (!dataset) return <p>No results yet.</p>;
  const test = query.find ? compilePattern(query.find) : () => true;
  const systems = getVisibleSystems().filter((system) => test(`${systemName(system)}\n${systemTitle(system)}`));
  const isSliced = query.show === "errors" || query.show === "types";
  const isSingle = datasets.length === 1 || Boolean(query.show);
  const controls = (
    <>
      <SliceSelect />
      {!isSliced && datasets.length > 1 && (
        <Select label="view" name="show" value={query.show ?? ""} options={VIEWS} reset={{ sort: "" }} />
      )}
      {isSingle && datasets.length > 1 && (
        <Select
          label="dataset"
          name="dataset"
          value={dataset.key}
          options={datasets.map((item) => [item.key, item.name])}
        />
      )}
    </>
  );
  const filters = (
    <>
      <SearchField label="systems" name="find" />
      <HiddenSystems />
      {getDuelSystem() >= 0 && (
        <span role="status">
          Select a second system to compare with <b>{systemTitle(getDuelSystem())}</b>.
        </span>
      )}
    </>
  );
  if (query.show === "errors")
    return (
      <CategoryBreakdown
        dataset={dataset}
        systems={systems}
        systemCell={systemCell}
        controls={controls}
        filters={filters}
      />
    );
  if (query.show === "types")
    return (
      <FacetBreakdown
        dataset={dataset}
        systems={systems}
        systemCell={systemCell}
        controls={controls}
        filters={filters}
      />
    );
  return (
    <Scores
      systems={systems}
      singleDataset={isSingle ? datasets.indexOf(dataset) : -1}
      controls={controls}
      filters={filters}
    />
  );
}

/** Find the system that was selected for a comparison; -1 if none was. */
const getDuelSystem = (): number =>
  leaderboardState.value!.systems.findIndex(({ name }) => name === route.value.query.duel);

/** A link that selects the first system of a duel, or that opens the duel with a second one. */
function DuelLink({ system }: { system: number }) {
  const selected = getDuelSystem();
  if (leaderboardState.value!.systems.length < 2) return null;
  if (selected === system)
    return (
      <a class="duel" href={currentUrl({ duel: "" })} aria-label={`cancel the comparison of ${systemTitle(system)}`}>
        cancel
      </a>
    );
  return (
    <a
      class="duel"
      href={
        selected < 0
          ? currentUrl({ duel: systemName(system) })
          : pageUrl("duel", {
              dataset: route.value.query.dataset,
              one: systemName(selected),
              two: systemName(system),
            })
      }
      aria-label={`compare ${systemTitle(system)}${selected < 0 ? "" : ` with ${systemTitle(selected)}`}`}
    >
      {selected < 0 ? "compare" : `with ${systemTitle(selected)}`}
    </a>
  );
}

/** Make the cell with the name of a system, and links that compare or hide it. */
function systemCell(system: number): Cell {
  return {
    text: systemTitle(system),
    content: (
      <>
        <span dir="auto">{systemTitle(system)}</span> <DuelLink system={system} />{" "}
        <a
          class="hide"
          href={currentUrl({ hide: formatHidden([...getHiddenSystems(), system]) })}
          aria-label={`hide ${systemTitle(system)}`}
        >
          hide
        </a>
      </>
    ),
  };
}

const parseList = (text: string | undefined, allowed: readonly string[]): string[] => {
  const names = (text ?? "").split(" ");
  return allowed.filter((name) => names.includes(name));
};

function Scores({
  systems,
  singleDataset,
  controls,
  filters,
}: {
  systems: number[];
  singleDataset: number;
  controls: preact.ComponentChildren;
  filters: preact.ComponentChildren;
}) {
  const { query } = route.value;
  const leaderboard = leaderboardState.value!;
  const profile = leaderboard.profiles.find((item) => item.name === query.profile) ?? leaderboard.profiles[0];
  const tables = leaderboard.tables.filter((table) => table.profile === profile.name);
  const names = tables.map((table) => table.measure);
  const defaultMeasures =
    singleDataset >= 0
      ? names.filter((name) => measureView(name) === measureView(profile.headline))
      : [names.includes(profile.headline) ? profile.headline : names[0]];
  const queryMeasures = parseList(query.m, names),
    measures = queryMeasures.length ? queryMeasures : defaultMeasures;
  const keys = leaderboard.datasets.map((dataset) => dataset.key),
    queryKeys = parseList(query.sets, keys);
  const datasetIndexes =
    singleDataset >= 0 ? [singleDataset] : (queryKeys.length ? queryKeys : keys).map((key) => keys.indexOf(key));
  const visibleTables = tables.filter((table) => measures.includes(table.measure));
  const mainTable = visibleTables.find((table) => table.measure === profile.headline) ?? visibleTables[0];
  if (!mainTable) return <p>No results yet.</p>;
  const meanDatasets =
    datasetIndexes.length > 1
      ? datasetIndexes.filter((datasetIndex) =>
          systems.every((system) => mainTable.value[datasetIndex][system] !== null),
        )
      : [];
  const meanScore = (table: MeasureTable, system: number): number | null => {
    const values = meanDatasets.map((datasetIndex) => table.value[datasetIndex][system]);
    return values.length && values.every((value) => value !== null)
      ? values.reduce((sum, value) => sum! + value!, 0)! / values.length
      : null;
  };
  // A column is a dataset, or the mean (-1), and a measure.
  const pairs =
    query.group === "measure"
      ? visibleTables.flatMap((table) => [-1, ...datasetIndexes].map((datasetIndex) => ({ table, datasetIndex })))
      : [-1, ...datasetIndexes].flatMap((datasetIndex) => visibleTables.map((table) => ({ table, datasetIndex })));
  const scoreColumns = pairs.filter(({ datasetIndex }) => datasetIndex >= 0 || meanDatasets.length > 1);
  const columnKey = ({ table, datasetIndex }: (typeof scoreColumns)[0]) =>
    `${datasetIndex < 0 ? "mean" : keys[datasetIndex]} ${table.measure}`;
  const columnScore = ({ table, datasetIndex }: (typeof scoreColumns)[0], system: number) =>
    datasetIndex < 0 ? meanScore(table, system) : table.value[datasetIndex][system];
  const sortColumn =
    scoreColumns.find((column) => columnKey(column) === getSortOrder().key) ??
    scoreColumns.find((column) => column.table === mainTable)!;
  const ranking = rankRows(systems, (system) => columnScore(sortColumn, system));
  const range = scoreRange(visibleTables, datasetIndexes, systems);
  const bestScores = scoreColumns.map((column) =>
    bestValue(
      column.table,
      systems.map((system) => columnScore(column, system)),
    ),
  );
  const isGrouped = visibleTables.length > 1 && datasetIndexes.length > 1;
  const columns: Column[] = [
    { title: "system" },
    ...scoreColumns.map(({ table, datasetIndex }): Column => {
      const isOracle = (datasetIndex < 0 ? meanDatasets : [datasetIndex]).some((index) => table.oracle[index]),
        oracleMark = isOracle ? " (oracle)" : "";
      const datasetName = datasetIndex < 0 ? "mean" : leaderboard.datasets[datasetIndex].name,
        measureName = measureTitle(table.measure);
      const [group, title] = query.group === "measure" ? [measureName, datasetName] : [datasetName, measureName];
      const isMajor =
        scoreColumns.length <= 6 ||
        datasetIndex < 0 ||
        (singleDataset >= 0 &&
          /:micro\.(p|r|f1)$/.test(table.measure) &&
          measureView(table.measure) === measureView(mainTable.measure));
      return {
        title:
          (isGrouped ? title : singleDataset >= 0 || datasetIndexes.length === 1 ? measureName : datasetName) +
          oracleMark,
        group: isGrouped ? group : undefined,
        kind: "number",
        sortKey: columnKey({ table, datasetIndex }),
        isMinor: !isMajor,
        content: (
          <>
            {(isGrouped ? query.group !== "measure" : datasetIndexes.length === 1) ? (
              <MeasureLabel name={table.measure} />
            ) : (
              datasetName
            )}
            {oracleMark}
          </>
        ),
      };
    }),
  ];
  const body = ranking.map((system): Cell[] => [
    systemCell(system),
    ...scoreColumns.map(({ table, datasetIndex }, index): Cell => {
      if (datasetIndex >= 0) return scoreCell(table, datasetIndex, system, range, bestScores[index], systems);
      const value = meanScore(table, system);
      return {
        text: formatPercent(value),
        isBest: value !== null && value === bestScores[index],
        content: <span class="figure">{formatPercent(value)}</span>,
      };
    }),
  ]);
  const standings = visibleTables.flatMap((table) =>
    datasetIndexes.flatMap((datasetIndex) =>
      systems
        .filter((system) => table.value[datasetIndex][system] !== null)
        .map((system) => findStanding(table, datasetIndex, system, systems)),
    ),
  );
  const isFiltered = systems.length < leaderboard.systems.length;
  const rangeText = range.map((bound) => formatPercent(bound, 0)).join(" to ");
  const hasTests = visibleTables.some((table) =>
    datasetIndexes.some((datasetIndex) =>
      systems.some((system) => table.tested_systems[datasetIndex][system].some((rival) => systems.includes(rival))),
    ),
  );
  const hasIntervals = visibleTables.some((table) =>
    datasetIndexes.some((datasetIndex) => table.low[datasetIndex].some((low) => low !== null)),
  );
  return (
    <>
      <Summary
        table={mainTable}
        datasetIndexes={datasetIndexes}
        systems={systems}
        means={systems.map((system) => meanScore(mainTable, system))}
      />
      <ProfileNotes profiles={[profile]} datasetIndexes={datasetIndexes} />
      <Toolbar>
        {controls}
        <MultiSelect
          label="measures"
          options={names.map((name) => [name, measureTitle(name), name])}
          selection={measures}
          onChange={(selection) => updateQuery({ m: selection.join(" ") })}
        />
        {singleDataset < 0 && leaderboard.datasets.length > 1 && (
          <MultiSelect
            label="datasets"
            options={leaderboard.datasets.map((dataset) => [dataset.key, dataset.name])}
            selection={datasetIndexes.map((datasetIndex) => keys[datasetIndex])}
            onChange={(selection) => updateQuery({ sets: selection.length === keys.length ? "" : selection.join(" ") })}
          />
        )}
        {isGrouped && (
          <Select
            label="group by"
            name="group"
            value={query.group ?? ""}
            options={[
              ["", "dataset"],
              ["measure", "measure"],
            ]}
          />
        )}
        {leaderboard.profiles.length > 1 && (
          <Select
            label="profile"
            name="profile"
            value={profile.name}
            options={leaderboard.profiles.map((item) => [item.name, item.title])}
            reset={{ m: "", sort: "" }}
          />
        )}
        {filters}
      </Toolbar>
      {body.length ? (
        <Sheet name="Leaderboard" columns={columns} rows={body} hasIntervals={hasIntervals} />
      ) : (
        <p>
          <a href={currentUrl({ find: "", hide: HIDE_NOTHING })}>Show all systems</a>
        </p>
      )}
      <p class="quiet prose">
        {visibleTables.length === 1 ? <MeasureLabel name={mainTable.measure} /> : "Scores"} in percent.{" "}
        {hasIntervals && `Whiskers: 95 % confidence intervals, on a scale from ${rangeText}. `}
        Bold: best score{isFiltered && ` of the ${formatCount(systems.length, "system")} shown`}.{" "}
        {hasTests &&
          `≈: not the best score, but no system${isFiltered ? " shown" : ""} is significantly better ` +
            `(${leaderboard.tests}). `}
        {standings.some(({ mark }) => mark === "?") && "?: the difference from a better score was not tested. "}
        {standings.some(({ isWorse }) => isWorse) &&
          `No mark: ${isFiltered ? "a system shown" : "another system"} is significantly better. `}
        {visibleTables.some((table) => datasetIndexes.some((index) => table.oracle[index])) &&
          "Oracle: thresholds were selected on this dataset. "}
        Select a score to see {profile.name === leaderboard.profile ? "its cases" : "why it differs"}.{" "}
        {meanDatasets.length > 1 &&
          `Means cover the ${meanDatasets.length} datasets with predictions from all visible systems, without tests.`}
      </p>
      <UntestedDifferences tables={visibleTables} datasetIndexes={datasetIndexes} systems={systems} />
      <SystemDescriptions systems={systems} />
      <Notes dataset={singleDataset >= 0 ? singleDataset : null} />
    </>
  );
}

/** The differences that were not tested, with the reasons. */
function UntestedDifferences({
  tables,
  datasetIndexes,
  systems,
}: {
  tables: readonly MeasureTable[];
  datasetIndexes: readonly number[];
  systems: readonly number[];
}) {
  const { datasets } = leaderboardState.value!;
  if (systems.length < 2) return null;
  const measuresByNote = new Map<string, string[]>();
  const addNote = (note: string, measure: string) =>
    measuresByNote.set(note, [...(measuresByNote.get(note) ?? []), measure]);
  for (const table of tables) {
    if (table.untested_reason) addNote(table.untested_reason, table.measure);
    for (const entry of table.untested) {
      const members = entry.systems.filter((system) => systems.includes(system));
      if (members.length && datasetIndexes.includes(entry.dataset))
        addNote(`${joinNames(members)} on ${datasets[entry.dataset].name}: ${entry.reason}`, table.measure);
    }
  }
  if (!measuresByNote.size) return null;
  return (
    <details>
      <summary>Differences that were not tested ({measuresByNote.size})</summary>
      <ul>
        {[...measuresByNote].map(([note, measures]) => (
          <li key={note}>
            <b>{measures.map(measureTitle).join(", ")}</b>: {note}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** What a system used on a dataset, as far as its files state it. */
const describeUsage = ({ seconds, tokens, cost }: CellNote["usage"]): string =>
  [
    seconds !== undefined && `${seconds.toLocaleString("en", { maximumSignificantDigits: 4 })} s`,
    tokens !== undefined && formatCount(tokens, "token"),
    cost !== undefined && `cost ${cost.toLocaleString("en", { maximumSignificantDigits: 4 })}`,
  ]
    .filter(Boolean)
    .join(", ");

function Notes({ dataset }: { dataset: number | null }) {
  const notes = leaderboardState.value!.notes.filter((entry) => dataset === null || entry.dataset === dataset);
  const entries = notes.filter((entry) => entry.notes.length || Object.keys(entry.skipped).length);
  return (
    <>
      {entries.length > 0 && (
        <details>
          <summary>Skipped items and notes ({entries.length})</summary>
          <ul>
            {entries.map((entry, index) => (
              <li key={index}>
                <b>{systemTitle(entry.system)}</b> on {leaderboardState.value!.datasets[entry.dataset].name}:{" "}
                {[...Object.entries(entry.skipped).map(([reason, count]) => `${reason} ${count}`), ...entry.notes].join(
                  "; ",
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {notes.some((entry) => Object.keys(entry.usage).length) && (
        <details>
          <summary>Runtime, tokens and cost</summary>
          <ul>
            {notes
              .filter((entry) => Object.keys(entry.usage).length)
              .map((entry, index) => (
                <li key={index}>
                  <b>{systemTitle(entry.system)}</b> on {leaderboardState.value!.datasets[entry.dataset].name}:{" "}
                  {describeUsage(entry.usage)}
                </li>
              ))}
          </ul>
        </details>
      )}
      <details>
        <summary>Signatures: all settings behind the scores</summary>
        {[...new Set(notes.map((entry) => entry.signature))].map((entry) => (
          <p class="signature" key={entry}>
            {entry}
          </p>
        ))}
        <p>Copy the URL to share this view.</p>
      </details>
    </>
  );
}

export const PAGE: Page = { title: "Leaderboard", group: "Results", position: 10, Content: Leaderboard };

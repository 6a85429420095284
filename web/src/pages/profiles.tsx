// The same predictions under every profile, and the gap between two profiles by setting.
import { useEffect, useRef } from "preact/hooks";
import {
  DatasetSelect,
  EmptyState,
  formatCount,
  formatNumber,
  formatPercent,
  formatSigned,
  getRowLimit,
  getSelectedDataset,
  getVisibleSystems,
  HiddenSystems,
  Loader,
  leaderboardState,
  MentionContext,
  MoreLink,
  ProfileNotes,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useData,
  useResource,
  useTexts,
} from "../components";
import type { Data } from "../data";
import { MeasureLabel, measurePhrase } from "../measures";
import type { Page } from "../page";
import * as resources from "../resources";
import { currentUrl, pageUrl, route } from "../route";
import type { MeasureTable, ProfileInfo, ReasonStep, Reasons, ReasonsResource } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";

export function Profiles() {
  const leaderboard = leaderboardState.value!;
  const dataset = getSelectedDataset()!;
  const datasetIndex = leaderboard.datasets.indexOf(dataset);
  const tables = leaderboard.profiles.map((profile) => ({
    profile,
    table: leaderboard.tables.find((item) => item.profile === profile.name && item.measure === profile.headline)!,
  }));
  const ownTable = tables[0].table,
    systems = getVisibleSystems();
  const rows = tables.map(({ profile, table }): Cell[] => [
    {
      text: profile.title,
      content: (
        <>
          <span title={profile.description}>{profile.title}</span>{" "}
          <span class="quiet">
            <MeasureLabel name={profile.headline} />
          </span>
        </>
      ),
    },
    ...systems.map((system): Cell => {
      const value = table.value[datasetIndex][system],
        ownValue = ownTable.value[datasetIndex][system];
      const gap =
        value !== null && ownValue !== null && table !== ownTable && areComparable(table, ownTable)
          ? value - ownValue
          : null;
      const hasReasons = dataset.reasons.includes(profile.name);
      const content = (
        <>
          <span class="figure">{formatPercent(value)}</span>
          <span class={gap === null ? "gap" : `gap ${gap < 0 ? "less" : "more"}`}>
            {gap === null ? "" : formatSigned(gap)}
          </span>
        </>
      );
      return {
        text: formatPercent(value),
        content:
          hasReasons && value !== null ? (
            <a href={currentUrl({ theirs: profile.name, system: systemName(system), step: "" })}>{content}</a>
          ) : (
            content
          ),
      };
    }),
  ]);
  const undefinedProfiles = [
    ...new Set(
      leaderboard.notes
        .filter((entry) => entry.dataset === datasetIndex)
        .flatMap((entry) => Object.entries(entry.refusals).map(([name, reason]) => `${name} (${reason})`)),
    ),
  ];
  const columns: Column[] = [
    { title: "profile" },
    ...systems.map((system): Column => ({ title: systemTitle(system), kind: "number" })),
  ];
  return (
    <>
      <ProfileSummary
        tables={tables}
        datasetIndex={datasetIndex}
        system={systems.find((system) => systemName(system) === route.value.query.system) ?? systems[0]}
      />
      <Toolbar>
        <DatasetSelect />
        <HiddenSystems />
      </Toolbar>
      <Sheet name="Profiles" columns={columns} rows={rows} />
      <ProfileNotes profiles={leaderboard.profiles} datasetIndexes={[datasetIndex]} />
      {dataset.reasons.length > 0 && (
        <p class="quiet prose">
          Select a score of{" "}
          {dataset.reasons
            .map((name) => leaderboard.profiles.find((item) => item.name === name)?.title ?? name)
            .join(", ")}{" "}
          to see why it differs.
          {leaderboard.profiles.length > dataset.reasons.length + 1 && (
            <> For other profiles, build the report with --why PROFILE.</>
          )}
        </p>
      )}
      {undefinedProfiles.length > 0 && <p class="quiet prose">No score: {undefinedProfiles.join("; ")}</p>}
      {tables.length === 1 && (
        <EmptyState
          message="This report contains one profile. To compare profiles, pass the gold file and predictions:"
          command="karat report --gold GOLD PREDICTIONS… --to html --out report.html"
        />
      )}
      {dataset.reasons.length ? (
        <ScoreGap key={dataset.key} dataset={dataset.key} profiles={dataset.reasons} />
      ) : (
        <EmptyState
          message="This report does not explain the differences. Pass a profile to --why:"
          command="karat report --gold GOLD PREDICTIONS… --why gerbil --to html --out report.html"
        />
      )}
    </>
  );
}

/** Whether two measures are the same statistic, such as F1, and neither is a rate per another one. */
function areComparable(a: MeasureTable, b: MeasureTable): boolean {
  const [statistic, other] = [a, b].map((table) => table.measure.split(".").at(-1));
  return statistic === other && !a.measure.includes("/") && !b.measure.includes("/");
}

/** A sentence that compares the scores of one statistic under all profiles without notes on them. */
function ProfileSummary({
  tables,
  datasetIndex,
  system,
}: {
  tables: readonly { profile: ProfileInfo; table: MeasureTable }[];
  datasetIndex: number;
  system: number;
}) {
  const note = leaderboardState.value!.notes.find((entry) => entry.dataset === datasetIndex && entry.system === system);
  const scores = tables.flatMap(({ profile, table }) =>
    table.value[datasetIndex][system] === null ||
    note?.profile_notes[profile.name] ||
    !areComparable(table, tables[0].table)
      ? []
      : [{ title: profile.title, value: table.value[datasetIndex][system]! }],
  );
  const [low, high] = [
    scores.reduce((a, b) => (b.value < a.value ? b : a), scores[0]),
    scores.reduce((a, b) => (b.value > a.value ? b : a), scores[0]),
  ];
  if (scores.length < 2 || low.value === high.value)
    return (
      <h1 class="summary">
        The same predictions under {tables.length === 1 ? "one profile" : `${tables.length} profiles`}.
      </h1>
    );
  return (
    <h1 class="summary">
      The same predictions of <b>{systemTitle(system)}</b> score {formatPercent(low.value)} under {low.title} and{" "}
      {formatPercent(high.value)} under {high.title}.
      {scores[0] !== low &&
        scores[0] !== high &&
        ` The score under ${scores[0].title} is ${formatPercent(scores[0].value)}.`}
    </h1>
  );
}

function ScoreGap({ dataset, profiles }: { dataset: string; profiles: string[] }) {
  const state = useResource(() => resources.loadResource("reasons", dataset), dataset);
  return (
    <Loader state={state}>
      {(resource) => <GapDetails resource={resource} dataset={dataset} profiles={profiles} />}
    </Loader>
  );
}

function GapDetails({
  resource,
  dataset,
  profiles,
}: {
  resource: ReasonsResource;
  dataset: string;
  profiles: string[];
}) {
  const { query } = route.value;
  const leaderboard = leaderboardState.value!;
  const profile = query.theirs && profiles.includes(query.theirs) ? query.theirs : profiles[0];
  const candidates = resource.reasons.filter((item) => item.profile === profile);
  const section = useRef<HTMLElement>(null),
    selection = `${query.system ?? ""} ${query.theirs ?? ""}`,
    lastSelection = useRef(selection);
  // Scroll to the details that a score of the table selects.
  useEffect(() => {
    if (lastSelection.current !== selection) section.current?.scrollIntoView({ block: "start" });
    lastSelection.current = selection;
  }, [selection]);
  const reasons =
    candidates.find((item) => systemName(item.system) === query.system) ??
    candidates.find((item) => getVisibleSystems().includes(item.system)) ??
    candidates[0];
  if (!reasons) return null;
  const title = leaderboard.profiles.find((item) => item.name === profile)?.title ?? profile,
    ownTitle = leaderboard.profiles[0].title;
  return (
    <section ref={section}>
      <h2>
        {systemTitle(reasons.system)}: from {title} to {ownTitle}
      </h2>
      <p class="summary">
        {title}: {formatPercent(reasons.reference_score)} ({measurePhrase(reasons.reference_measure)}). {ownTitle}:{" "}
        {formatPercent(reasons.score)} ({measurePhrase(reasons.measure)}). Difference:{" "}
        <b>{formatSigned(reasons.score - reasons.reference_score)}</b> points.
      </p>
      <Toolbar>
        <Select
          label="system"
          name="system"
          value={systemName(reasons.system)}
          options={candidates.map((item) => [systemName(item.system), systemTitle(item.system)])}
          reset={{ step: "" }}
        />
        {profiles.length > 1 && (
          <Select
            label="profile"
            name="theirs"
            value={profile}
            options={profiles.map((name) => [
              name,
              leaderboard.profiles.find((item) => item.name === name)?.title ?? name,
            ])}
            reset={{ step: "" }}
          />
        )}
      </Toolbar>
      <Waterfall reasons={reasons} />
      <FlippedCases reasons={reasons} dataset={dataset} />
    </section>
  );
}

function Waterfall({ reasons }: { reasons: Reasons }) {
  const points = [reasons.reference_score];
  for (const step of reasons.steps) points.push(points.at(-1)! + step.share);
  const low = Math.min(...points),
    high = Math.max(...points),
    margin = (high - low) * 0.08 || 0.01;
  const toPercent = (value: number) => (100 * (value - low + margin)) / (high - low + 2 * margin);
  const rows = reasons.steps.map((step, index): Cell[] => {
    const [start, end] = [points[index], points[index + 1]].map(toPercent);
    const name = step.settings.map(([setting]) => setting).join(", ");
    return [
      {
        text: name,
        content: <a href={currentUrl({ step: route.value.query.step === String(index) ? "" : index })}>{name}</a>,
      },
      { text: step.settings.map(([, theirValue, ourValue]) => `${theirValue} → ${ourValue}`).join(", ") },
      {
        text: formatSigned(step.share),
        content: (
          <span class="fall">
            <i
              class={step.share < 0 ? "less" : "more"}
              style={{
                insetInlineStart: `${Math.min(start, end)}%`,
                width: `${Math.max(0.4, Math.abs(end - start))}%`,
              }}
            />
          </span>
        ),
      },
      { text: formatSigned(step.share) },
      {
        text: formatNumber(step.flip_count),
        content: step.flip_count ? (
          <a href={currentUrl({ step: index })}>{formatNumber(step.flip_count)}</a>
        ) : (
          <span class="quiet">0</span>
        ),
      },
    ];
  });
  return (
    <>
      <Sheet
        name="Gap"
        columns={[
          { title: "setting" },
          { title: "change", isMinor: true },
          { title: "effect" },
          { title: "points", kind: "number" },
          { title: "cases", kind: "number" },
        ]}
        rows={rows}
      />
      <p class="quiet prose">
        Points are Shapley values: the mean effect of each setting over all orders of changing the settings. They add up
        to the gap.{" "}
        {reasons.unused_settings.length > 0 && `Settings without effect: ${reasons.unused_settings.join(", ")}.`}
      </p>
    </>
  );
}

function FlippedCases({ reasons, dataset }: { reasons: Reasons; dataset: string }) {
  const step = reasons.steps[Number(route.value.query.step)];
  const state = useData(dataset);
  if (route.value.query.step === undefined || route.value.query.step === "" || !step) return null;
  return (
    <>
      <h2>
        {formatCount(step.flip_count, "case")} changed by {step.settings.map(([name]) => name).join(", ")} alone
      </h2>
      <Loader state={state}>
        {(data) => <FlipTable data={data} reasons={reasons} step={step} dataset={dataset} />}
      </Loader>
      {step.flips.length < step.flip_count && (
        <p class="quiet">
          Showing the first {formatNumber(step.flips.length)} of {formatNumber(step.flip_count)}.
        </p>
      )}
    </>
  );
}

/** The cases that a setting changes, before and after. */
function FlipTable({
  data,
  reasons,
  step,
  dataset,
}: {
  data: Data;
  reasons: Reasons;
  step: ReasonStep;
  dataset: string;
}) {
  const visibleFlips = step.flips.slice(0, getRowLimit());
  const texts = useTexts(
    dataset,
    data,
    visibleFlips.flatMap((flip) => (flip.document < 0 ? [] : [flip.document])),
  );
  const formatTurn = ([outcomeBefore, outcomeAfter]: [string, string]) =>
    outcomeBefore || outcomeAfter ? `${outcomeBefore || "–"} → ${outcomeAfter || "–"}` : "";
  return (
    <>
      <Sheet
        name="Changed cases"
        columns={[
          { title: "case" },
          { title: "gold" },
          { title: "gold outcome" },
          { title: "prediction" },
          { title: "prediction outcome" },
        ]}
        rows={visibleFlips.map((flip): Cell[] => [
          {
            text: flip.surface,
            content:
              flip.document >= 0 ? (
                <a
                  class="plain"
                  href={pageUrl("text", {
                    dataset,
                    doc: data.resource.documents[flip.document].id,
                    at: `${flip.start}-${flip.end}`,
                    tracks: systemName(reasons.system),
                  })}
                >
                  <MentionContext
                    stretches={texts.value?.get(flip.document)}
                    start={flip.start}
                    end={flip.end}
                    surface={flip.surface || `${flip.start}–${flip.end}`}
                  />
                </a>
              ) : (
                flip.surface
              ),
          },
          {
            text: flip.gold ?? "",
            content: <span dir="auto">{flip.gold === null ? "" : data.findName(flip.gold)}</span>,
          },
          { text: formatTurn(flip.gold_outcomes) },
          {
            text: flip.prediction ?? "",
            content: <span dir="auto">{flip.prediction === null ? "" : data.findName(flip.prediction)}</span>,
          },
          { text: formatTurn(flip.prediction_outcomes) },
        ])}
      />
      <MoreLink count={visibleFlips.length} total={step.flips.length} unit="cases" />
    </>
  );
}

export const PAGE: Page = { title: "Profiles", group: "Method", position: 10, Content: Profiles };

// Error categories as bars that link to their cases.

import {
  DatasetSelect,
  EmptyState,
  formatCount,
  formatNumber,
  formatPercent,
  getHiddenSystems,
  getSelectedDataset,
  HiddenSystems,
  Loader,
  leaderboardState,
  Select,
  systemName,
  systemTitle,
  Toolbar,
  useResource,
} from "../components";
import { CategoryDefinition } from "../definition";
import type { Page } from "../page";
import * as resources from "../resources";
import { pageUrl, route } from "../route";
import type { ErrorsResource } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";

const GROUP_TITLES: Record<string, string> = {
  "ner-fn": "Missed mentions",
  "ner-fp": "Spurious predictions",
  disambiguation: "Wrong links",
  candidates: "Candidates",
  hyperlink: "Hyperlinks",
  coreference: "Coreference",
};

export function Errors() {
  const state = useResource(() => resources.loadResource("errors"), "errors");
  return <Loader state={state}>{(resource) => <CategoryTree resource={resource} />}</Loader>;
}

function CategoryTree({ resource }: { resource: ErrorsResource }) {
  const dataset = getSelectedDataset((item) => item.cases)!;
  const datasetIndex = leaderboardState.value!.datasets.indexOf(dataset);
  const hiddenSet = getHiddenSystems();
  const isRate = route.value.query.by === "rate";
  const counts = resource.counts
    .filter(
      (entry) =>
        entry.dataset === datasetIndex &&
        (!hiddenSet.has(entry.system) || systemName(entry.system) === route.value.query.system),
    )
    .sort((a, b) => a.system - b.system);
  if (!counts.length)
    return (
      <>
        <Toolbar>
          <DatasetSelect />
        </Toolbar>
        <EmptyState
          isHeading
          message="No error categories, or no mentions in the task. Pass the gold file and predictions:"
          command="karat report --gold GOLD PREDICTIONS… --to html --out report.html"
        />
      </>
    );
  const selectedSystem = counts.some((entry) => systemName(entry.system) === route.value.query.system)
    ? route.value.query.system
    : undefined;
  const visibleCounts = counts.filter((entry) => !selectedSystem || systemName(entry.system) === selectedSystem);
  const getFigure = (entry: (typeof counts)[0], index: number): number | null =>
    isRate ? (entry.total[index] ? (entry.errors[index] ?? 0) / entry.total[index]! : null) : entry.errors[index];
  const columns: Column[] = [
    { title: "error category" },
    ...visibleCounts.map((entry): Column => ({ title: systemTitle(entry.system), kind: "number" })),
  ];
  const groups = [...new Set(resource.categories.map((category) => category.group))];
  const summary = summariseErrors(resource, visibleCounts);
  return (
    <>
      {summary && <h1 class="summary">{summary}</h1>}
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <Select
          label="values"
          name="by"
          value={isRate ? "rate" : ""}
          options={[
            ["", "error counts"],
            ["rate", "error rates"],
          ]}
        />
        <Select
          label="system"
          name="system"
          value={selectedSystem ?? ""}
          options={[
            ["", "all systems"],
            ...counts.map((entry) => [systemName(entry.system), systemTitle(entry.system)] as const),
          ]}
        />
        <HiddenSystems />
      </Toolbar>
      {groups.map((group) => {
        const members = resource.categories
          .map((category, index) => ({ ...category, index }))
          .filter(
            (category) => category.group === group && visibleCounts.some((entry) => entry.errors[category.index]),
          );
        if (!members.length) return null;
        const maxFigure = Math.max(
          ...members.flatMap((category) => visibleCounts.map((entry) => getFigure(entry, category.index) ?? 0)),
          isRate ? 0.01 : 1,
        );
        const rows = members.map((category, index): Cell[] => [
          {
            text: category.title,
            content: (
              <span class={index > 0 && members[0].title !== category.title ? "below" : "wide"}>
                {category.title} <CategoryDefinition category={category} />
              </span>
            ),
          },
          ...visibleCounts.map((entry): Cell => {
            const value = getFigure(entry, category.index);
            const text = value === null ? "–" : isRate ? formatPercent(value) : formatNumber(value);
            const [errors, total, undecidedCount] = [entry.errors, entry.total, entry.undecided].map(
              (counts) => counts[category.index],
            );
            const tooltip =
              errors === null
                ? (entry.undefined[category.index] ?? "undefined")
                : total === null
                  ? formatCount(errors ?? 0, "error")
                  : `${errors} of ${total}${undecidedCount ? `, ${undecidedCount} undecided` : ""}`;
            if (errors === null)
              return {
                text,
                content: (
                  <span class="figure" title={tooltip}>
                    {text}
                  </span>
                ),
              };
            return {
              text,
              content: (
                <a
                  class="filled"
                  href={pageUrl("cases", {
                    dataset: dataset.key,
                    system: systemName(entry.system),
                    error: category.name,
                  })}
                  title={tooltip}
                >
                  <span class="room">
                    <span
                      class={value ? "fill" : "fill none"}
                      style={{ width: `${value === null ? 0 : (100 * value) / maxFigure}%` }}
                    />
                  </span>
                  <span class="figure">{text}</span>
                </a>
              ),
            };
          }),
        ]);
        return (
          <section key={group}>
            <h2>{GROUP_TITLES[group] ?? group}</h2>
            <Sheet name={GROUP_TITLES[group] ?? group} columns={columns} rows={rows} />
          </section>
        );
      })}
      <p class="quiet prose">
        A case may belong to several categories. “?” opens a definition. Select a bar to see its cases.{" "}
        {listUndefinedCategories(resource, visibleCounts).join(" ")}
      </p>
    </>
  );
}

/** List the categories that do not apply to a system, a sentence for each reason. */
export function listUndefinedCategories(resource: ErrorsResource, counts: ErrorsResource["counts"]): string[] {
  const systemsByNote = new Map<string, string[]>();
  for (const entry of counts) {
    const titlesByReason = new Map<string, string[]>();
    for (const [index, reason] of entry.undefined.entries())
      if (reason !== null)
        titlesByReason.set(reason, [...(titlesByReason.get(reason) ?? []), resource.categories[index].title]);
    for (const [reason, titles] of titlesByReason) {
      const note = `(${reason}): ${titles.join(", ")}.`;
      systemsByNote.set(note, [...(systemsByNote.get(note) ?? []), systemTitle(entry.system)]);
    }
  }
  return [...systemsByNote].map(([note, systems]) => `Undefined for ${systems.join(", ")} ${note}`);
}

/** Summarise the most frequent kind of error of each system. */
function summariseErrors(resource: ErrorsResource, counts: ErrorsResource["counts"]) {
  const groupHeads = resource.categories
    .map((category, index) => ({ ...category, index }))
    .filter(
      (category, _, categories) =>
        categories.find((item) => item.group === category.group) === category &&
        category.name in { "ner-fn": 1, "ner-fp": 1, disambiguation: 1 },
    );
  if (!groupHeads.length || !counts.length) return null;
  const titles: Record<string, string> = {
    "ner-fn": "missed mentions",
    "ner-fp": "spurious predictions",
    disambiguation: "wrong links",
  };
  const mainErrors = counts
    .map((entry) => groupHeads.reduce((a, b) => ((entry.errors[b.index] ?? 0) > (entry.errors[a.index] ?? 0) ? b : a)))
    .map((category) => titles[category.name]);
  const distinctErrors = [...new Set(mainErrors)];
  const entriesWithErrors = counts.filter((entry) => groupHeads.some((category) => entry.errors[category.index]));
  if (!entriesWithErrors.length) return null;
  if (distinctErrors.length === 1)
    return (
      <>
        The most frequent errors of {counts.length > 1 ? "all systems" : systemTitle(counts[0].system)} are{" "}
        <b>{distinctErrors[0]}</b>.
      </>
    );
  return (
    <>
      The most frequent errors are{" "}
      {distinctErrors.map((title, index) => (
        <>
          {index > 0 && "; "}
          <b>{title}</b> of{" "}
          {counts
            .filter((_, index) => mainErrors[index] === title && entriesWithErrors.includes(counts[index]))
            .map((entry) => systemTitle(entry.system))
            .join(", ")}
        </>
      ))}
      .
    </>
  );
}

export const PAGE: Page = { title: "Errors", group: "Errors", position: 10, Content: Errors };

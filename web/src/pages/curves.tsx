// Curves over thresholds, coverage, categories, difficulty and runtime.

import { Chart } from "../chart";
import {
  DatasetSelect,
  EmptyState,
  getSelectedDataset,
  HiddenSystems,
  Loader,
  MultiSelect,
  Toolbar,
  useResource,
} from "../components";
import type { Page } from "../page";
import * as resources from "../resources";
import { route, updateQuery } from "../route";

export function Curves() {
  const dataset = getSelectedDataset((item) => item.curves)!;
  const state = useResource(
    () =>
      dataset.curves
        ? resources.loadResource("curves", dataset.key)
        : Promise.resolve({ dataset: dataset.name, charts: [], missing_charts: [] }),
    dataset.key,
  );
  return (
    <Loader state={state}>
      {(resource) => {
        const queryNames = (route.value.query.charts ?? "").split(" ");
        const selection = resource.charts.filter((chart) => queryNames.includes(chart.name)),
          charts = selection.length ? selection : resource.charts;
        return (
          <>
            <h1 class="summary">Calibration, difficulty and runtime</h1>
            <Toolbar>
              <DatasetSelect predicate={(item) => item.curves} />
              {resource.charts.length > 1 && (
                <MultiSelect
                  label="charts"
                  options={resource.charts.map((chart) => [chart.name, chart.title])}
                  selection={charts.map((chart) => chart.name)}
                  onChange={(names) =>
                    updateQuery({ charts: names.length === resource.charts.length ? "" : names.join(" ") })
                  }
                />
              )}
              <HiddenSystems />
            </Toolbar>
            {charts.length ? (
              <div class="charts">
                {charts.map((chart) => (
                  <Chart key={chart.name} chart={chart} />
                ))}
              </div>
            ) : (
              <EmptyState
                message="No curves: predictions have no scores and systems no runtimes. Add a score to each prediction:"
                command={'{"start": 0, "end": 6, "entity": "Q64", "score": 0.9}'}
              />
            )}
            {resource.missing_charts.length > 0 && (
              <section>
                <h2>Unavailable charts</h2>
                <ul class="quiet">
                  {[...new Set(resource.missing_charts.map(([, reason]) => reason))].map((reason) => (
                    <li key={reason}>
                      {resource.missing_charts
                        .filter((item) => item[1] === reason)
                        .map(([name]) => name.replaceAll("-", " "))
                        .join(", ")}
                      : {reason}
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </>
        );
      }}
    </Loader>
  );
}

export const PAGE: Page = { title: "Curves", group: "Results", position: 30, Content: Curves };

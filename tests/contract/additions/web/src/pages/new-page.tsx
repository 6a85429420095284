// The number of results of each system, for a test.
import { Loader, useResource } from "../components";
import type { Page } from "../page";
import * as resources from "../resources";
import { Sheet } from "../sheet";

function NewPage() {
  const state = useResource(() => resources.loadResource("new-resource"), "new-resource");
  return (
    <Loader state={state}>
      {({ rows }) => (
        <Sheet
          name="Results"
          columns={[{ title: "system" }, { title: "results", kind: "number" }]}
          rows={rows.map(({ system, results }) => [{ text: system }, { text: String(results) }])}
        />
      )}
    </Loader>
  );
}

export const PAGE: Page = { title: "New page", group: "Method", position: 200, Content: NewPage };

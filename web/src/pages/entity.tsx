// One entity: its cases in all results.
import type { Page } from "../page";
import { EntityPage } from "./entities";

export const PAGE: Page = {
  title: "Entity",
  group: "Data",
  position: 0,
  Content: EntityPage,
  isListed: () => false,
  parent: "entities",
};

// One surface form: its cases in all results.
import type { Page } from "../page";
import { SurfacePage } from "./entities";

export const PAGE: Page = {
  title: "Mention",
  group: "Data",
  position: 0,
  Content: SurfacePage,
  isListed: () => false,
  parent: "entities",
};

// What a file in pages/ exports as PAGE; its file name is the name in URLs.
import type { ComponentChildren } from "preact";

/** The groups of the menu, in order. */
export const GROUPS = ["Results", "Errors", "Texts", "Data", "Method"] as const;
export type Group = (typeof GROUPS)[number];

export interface Page {
  /** The title in the navigation and of the window. */
  title: string;
  /** The group of the menu that contains the page. */
  group: Group;
  /** The position in the group; pages in ascending order. */
  position: number;
  Content: () => ComponentChildren;
  /** Whether the navigation lists the page; by default it does. */
  isListed?: () => boolean;
  /** The page that the navigation highlights instead of a page that it does not list. */
  parent?: string;
  /** Keys of this page and what they do, for the list of keys. */
  keys?: readonly (readonly [string, string])[];
}

// What a file in pages/ exports as PAGE; its file name is the name in URLs.
import type { ComponentChildren } from "preact";

export interface Page {
  /** The title in the navigation and of the window. */
  title: string;
  /** The position in the navigation; pages in ascending order. */
  position: number;
  Content: () => ComponentChildren;
  /** Whether the navigation lists the page; by default it does. */
  isListed?: () => boolean;
  /** The page that the navigation highlights instead of a page that it does not list. */
  parent?: string;
}

// All pages by file name; build.mjs makes this module from the files in pages/.
declare module "karat:pages" {
  export const PAGES: Readonly<Record<string, import("./page").Page>>;
}

// Build the bundle: a script and a style sheet for each client, and the licences of the packages in it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build, transform } from "esbuild";

const target = new URL("../src/karat/web/archive/bundle/", import.meta.url).pathname;
const CLIENTS = {
  client: ["src/main.tsx", ["src/style.css"]],
  judge: ["src/judge/main.tsx", ["src/style.css", "src/common/style.css", "src/judge/style.css"]],
  annotate: ["src/annotate/main.tsx", ["src/style.css", "src/common/style.css", "src/annotate/style.css"]],
};
/** The module `karat:pages`: PAGE of every file in src/pages by file name, so that a page is one file. */
const pages = {
  name: "pages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^karat:pages$/ }, ({ path }) => ({ path, namespace: "pages" }));
    onLoad({ filter: /.*/, namespace: "pages" }, () => {
      const names = readdirSync("src/pages").sort();
      const imports = names.map((name, index) => `import { PAGE as page${index} } from "./src/pages/${name}";`);
      const entries = names.map((name, index) => `${JSON.stringify(name.replace(/\.tsx$/, ""))}: page${index},`);
      return { contents: `${imports.join("\n")}\nexport const PAGES = {${entries.join("")}};`, resolveDir: "." };
    });
  },
};
const packages = new Set();
for (const [name, [script, styles]] of Object.entries(CLIENTS)) {
  const made = await build({
    entryPoints: [script],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    plugins: [pages],
    metafile: true,
    write: false,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  for (const path of Object.keys(made.metafile.inputs))
    packages.add(/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  // The script may be inlined in an HTML file, where "</script" would end it.
  writeFileSync(`${target}${name}.js`, made.outputFiles[0].text.replaceAll("</script", "<\\/script"));
  const style = styles.map((path) => readFileSync(path, "utf8")).join("\n");
  writeFileSync(
    `${target}${name}.css`,
    (await transform(style, { loader: "css", minify: true, charset: "utf8" })).code,
  );
}
const licences = [...packages]
  .filter(Boolean)
  .sort()
  .map((name) => {
    const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
    return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
  });
writeFileSync(`${target}licences.txt`, licences.join("\n\n"));

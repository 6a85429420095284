// Makes the bundle that is shipped: one script, one style sheet, and the licences of what is inside.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const target = new URL("../src/karat/archive/bundle/", import.meta.url).pathname;
const made = await build({
  entryPoints: ["src/main.tsx"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  metafile: true,
  write: false,
  define: { "process.env.NODE_ENV": '"production"' },
});
// The script stands inside an HTML file, which ends scripts at this word wherever it occurs.
const script = made.outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = await build({ entryPoints: ["src/style.css"], minify: true, charset: "utf8", write: false });
const packages = [...new Set(Object.keys(made.metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]))];
const licences = packages.filter(Boolean).sort().map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${target}client.js`, script);
writeFileSync(`${target}client.css`, style.outputFiles[0].text);
writeFileSync(`${target}licences.txt`, licences.join("\n\n"));

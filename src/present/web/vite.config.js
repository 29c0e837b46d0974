// One classic script, ASCII, without a source map: it stands in the page itself, whose policy knows it by its hash.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// The libraries' licences go where their code goes.
const licences = ["preact", "d3-hierarchy"]
  .map((name) => `${name}\n${readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8").replace(/\*\//g, "")}`)
  .join("\n");

const ascii = {
  name: "ascii",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle))
      chunk.code = `/* beamheap's report, with\n${licences}*/\n${chunk.code}`.replace(/[^\x00-\x7f]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  },
};

export default defineConfig({
  plugins: [ascii],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2020",
    outDir: "dist",
    minify: true,
    lib: { entry: "src/main.jsx", formats: ["iife"], name: "beamheapReport", fileName: () => "report.js" },
  },
});

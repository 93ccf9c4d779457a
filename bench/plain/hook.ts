import { registerHooks } from "node:module";

/**
 * Replaces modules of the server that take a shortcut by the plain way of doing the same, so that `bench/shortcuts.ts` can
 * measure what each of them brings. Loaded with `--import`; `BENCH_PLAIN` names the shortcuts to leave out.
 */
const REPLACED: Readonly<Record<string, string>> = {
  "prepared-query": "/database/prepared-query.adapter.ts",
};

const plain = (process.env["BENCH_PLAIN"] ?? "").split(",").filter(Boolean);

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const name = plain.find((it) => found.url.endsWith(REPLACED[it] ?? "?"));
    return name ? { ...found, url: new URL(`./${name}.ts`, import.meta.url).href } : found;
  },
});

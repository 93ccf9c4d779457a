import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CLI } from "../images/definitions.ts";
import { programOf } from "../images/program.adapter.ts";

/** The files of the package `@binnacle/cli` as it is published: the same bundle that its image holds, which needs no other package. */
export async function cliPackage(root: string): Promise<Map<string, Buffer>> {
  const json = async (path: string) => JSON.parse(await readFile(join(root, path), "utf8"));
  const { name, version, description, license, type } = await json("packages/cli/package.json");
  const manifest = {
    name,
    version,
    description,
    keywords: ["binnacle", "kubernetes", "cli"],
    license,
    type,
    bin: { binnacle: CLI.bundle },
    files: [CLI.bundle, "THIRD-PARTY-LICENSES.txt"],
    engines: { node: ">=20.12" },
  };
  const { entries } = await programOf(root, CLI, await json("package-lock.json"));
  const files = entries.flatMap((entry) =>
    entry.type === "file" ? [[entry.path.slice("app/".length), entry.content] as const] : [],
  );
  return new Map([...files, ["package.json", Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)]]);
}

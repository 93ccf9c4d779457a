import { parseArgs } from "node:util";
import { type BuildOptions, buildArchives, buildImages } from "./images/build.adapter.ts";
import { requireWithinLimits, sizeTable } from "./images/sizes.ts";

/**
 * Writes the images `server`, `operator` and `cli` and the charts, each as an OCI image layout. Nothing in them is executed, so it takes
 * neither root nor a container engine, and the same commit gives the same digests on every machine. `--archives` writes what
 * the Dockerfiles in deploy/images take instead.
 */
const { values } = parseArgs({
  options: {
    output: { type: "string" },
    archives: { type: "boolean", default: false },
    helm: { type: "string" },
    only: { type: "string", multiple: true },
    platform: { type: "string", multiple: true },
    revision: { type: "string" },
  },
});

try {
  if (!values.output) throw new Error("Name the folder to write to: npm run images -- --output <folder>");
  const options = {
    output: values.output,
    helm: values.helm ?? null,
    only: values.only ?? null,
    platforms: values.platform ?? null,
    revision: values.revision ?? null,
  };
  if (values.archives) await buildArchives(options);
  else await writeImages(options);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function writeImages(options: BuildOptions): Promise<void> {
  const sizes = await buildImages(options);
  process.stdout.write(sizeTable(sizes));
  requireWithinLimits(sizes);
}

import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildImages } from "./images/build.adapter.ts";
import { requireWithinLimits } from "./images/sizes.ts";
import { fileSubjects, imageSubjects, sha256Of, takeImages, writeArtifacts } from "./release/artifacts.adapter.ts";
import { notesOf } from "./release/changelog.ts";
import { commitRelease, sourceOf, tagRelease } from "./release/git.adapter.ts";
import { provenanceOf, type Source } from "./release/provenance.ts";
import { signFile } from "./release/sign.adapter.ts";

const USAGE = `Say which version, where to write it, and the SSH key that signs it:
  npm run release -- <version> --output <folder> --key <file>
  npm run release -- --dry-run --output <folder>`;

/**
 * Makes a release: commits its version and its section of the changelog, writes everything that is published, and at last tags the
 * commit. Nothing is pushed. A dry run writes the same of the checkout as it is, and neither commits nor tags.
 */
const ROOT = new URL("../", import.meta.url).pathname;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: "string" },
    key: { type: "string" },
    "dry-run": { type: "boolean", default: false },
    images: { type: "string" },
    helm: { type: "string" },
  },
});

try {
  await (values["dry-run"] ? dryRun() : release());
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  const { output, key, images } = values;
  const [version] = positionals;
  if (!version || !output || !key) throw new Error(USAGE);
  if (images) throw new Error("--images is for dry runs: a release builds its images itself, from its commit.");
  const folder = await emptyFolder(output);
  await access(key).catch(() => Promise.reject(new Error(`There is no key ${key}.`)));
  await commitRelease(ROOT, version, new Date().toISOString().slice(0, 10));
  await write(folder, await sourceOf(ROOT));
  const tag = await tagRelease(ROOT, version, key);
  process.stdout.write(
    `${version} is in ${folder} and tagged. Publish it with: git push --atomic origin HEAD ${tag}\n`,
  );
}

async function dryRun(): Promise<void> {
  if (!values.output) throw new Error(USAGE);
  if (positionals.length > 0) throw new Error("A dry run changes no version, so it takes none.");
  const folder = await emptyFolder(values.output);
  await write(folder, await sourceOf(ROOT));
  process.stdout.write(
    `The dry run is in ${folder}${values.key ? "" : ", without a signature"}. Nothing is committed or tagged.\n`,
  );
}

async function write(folder: string, source: Source): Promise<void> {
  const images = join(folder, "images");
  const revision = source.isModified ? `${source.commit}-modified` : source.commit;
  if (values.images) await takeImages(values.images, images);
  else {
    const options = { output: images, helm: values.helm ?? null, only: null, platforms: null, revision };
    requireWithinLimits(await buildImages(options));
  }
  await writeArtifacts(ROOT, folder);
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
  await writeFile(
    join(folder, "RELEASE-NOTES.md"),
    notesOf(await readFile(join(ROOT, "CHANGELOG.md"), "utf8"), version),
  );
  const statement = provenanceOf([...(await imageSubjects(folder)), ...(await fileSubjects(folder))], {
    version,
    source,
    hasGivenImages: values.images !== undefined,
    node: process.versions.node,
    lockfileSha256: await sha256Of(join(ROOT, "package-lock.json")),
  });
  await writeFile(join(folder, "provenance.intoto.json"), statement);
  const sums = await fileSubjects(folder);
  const checksums = join(folder, "SHA256SUMS");
  await writeFile(checksums, sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""));
  if (values.key) await signFile(checksums, values.key);
}

/** What is there already would get into the checksums. */
async function emptyFolder(path: string): Promise<string> {
  const folder = resolve(path);
  const found = await readdir(folder).catch(() => []);
  if (found.length > 0) throw new Error(`${folder} is not empty. Remove it, or name another folder.`);
  return folder;
}

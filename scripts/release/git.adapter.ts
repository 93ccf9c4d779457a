import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { releasedChangelog, sectionOf } from "./changelog.ts";
import type { Source } from "./provenance.ts";
import { RENDERINGS, requireRenderings } from "./renderings.ts";
import { MIGRATIONS, requireSchema, schemaFile } from "./schema.ts";
import { requireNewer, VERSIONED_FILES, withVersion } from "./versions.ts";

const run = promisify(execFile);
const git = async (root: string, ...args: string[]) => (await run("git", args, { cwd: root })).stdout.trim();

const tagOf = (version: string) => `v${version}`;

export async function sourceOf(root: string): Promise<Source> {
  const commit = await git(root, "rev-parse", "HEAD");
  const changes = await git(root, "--no-optional-locks", "status", "--porcelain");
  return { commit, isModified: changes !== "" };
}

/**
 * Commits what makes this checkout a release: its version and the section of the changelog. A release whose commit is there and that was
 * broken off later goes on from it.
 */
export async function commitRelease(root: string, version: string, date: string): Promise<void> {
  const { version: current } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  requireNewer(version, current);
  if ((await sourceOf(root)).isModified) throw new Error("The checkout has changes. Commit them, or put them aside.");
  if (await git(root, "tag", "--list", tagOf(version)))
    throw new Error(`${version} is released: there is a tag ${tagOf(version)}.`);
  const kept = await readFile(join(root, schemaFile(version)), "utf8").catch(() => null);
  requireSchema(version, kept, await readdir(join(root, MIGRATIONS)));
  requireRenderings(version, await readdir(join(root, RENDERINGS)).catch(() => []));
  const changelog = join(root, "CHANGELOG.md");
  const changes = await readFile(changelog, "utf8");
  if (version === current && sectionOf(changes, version) && !sectionOf(changes, "Unreleased")) return;
  await writeFile(changelog, releasedChangelog(changes, version, date));
  for (const path of globSync([...VERSIONED_FILES], { cwd: root })) {
    const text = await readFile(join(root, path), "utf8");
    await writeFile(join(root, path), withVersion(path, text, current, version));
  }
  await git(root, "commit", "--all", "--quiet", `--message=release: ${version}`);
}

/** The tag is signed by the same key as the checksums. */
export async function tagRelease(root: string, version: string, key: string): Promise<string> {
  const signing = ["-c", "gpg.format=ssh", "-c", `user.signingkey=${key}`];
  await git(root, ...signing, "tag", "--sign", `--message=Binnacle ${version}`, tagOf(version));
  return tagOf(version);
}

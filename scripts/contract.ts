import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { CONTRACT } from "../packages/contract/src/rest/version.ts";
import { openApiDocument } from "../packages/server/src/http/openapi.ts";
import { API_BASE } from "../packages/server/src/http/server.adapter.ts";
import { describedRoutes } from "../packages/server/src/routes.ts";

export type Document = Record<string, unknown>;

/** The contract that clients were last promised, and what it looked like. */
export interface ContractRecord {
  readonly contract: number;
  readonly digest: string;
}

const fileAt = (path: string) => new URL(`../${path}`, import.meta.url);
export const DOCUMENT_FILE = fileAt("openapi.json");
export const RECORD_FILE = fileAt("docs/spec/contract.json");

export function presentDocument(): Document {
  return openApiDocument(describedRoutes(), { serverUrl: API_BASE });
}

/**
 * Characters that nobody sees, such as those that patterns refuse, are escaped: in a review they would not be there. A
 * reference takes one line, because there are three thousand of them.
 */
export const textOf = (value: object) =>
  `${JSON.stringify(value, null, 2)
    .replace(/\{\n +("\$ref": "[^"]*")\n +\}/g, "{ $1 }")
    .replace(/[\p{Cc}\p{Cf}\p{Z}]/gu, (it) => (it === "\n" || it === " " ? it : escaped(it)))}\n`;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

export function recordedContract(): ContractRecord | null {
  try {
    return JSON.parse(readFileSync(RECORD_FILE, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export function presentRecord(document: Document): ContractRecord {
  return { contract: CONTRACT, digest: digestOf(document) };
}

/** Of what clients see: neither the order in which things are written nor the version that is raised because of it counts. */
export function digestOf(document: Document): string {
  const { version: _, ...info } = document["info"] as Document;
  return createHash("sha256")
    .update(JSON.stringify(sorted({ ...document, info })))
    .digest("hex");
}

/** Why the present contract must not take the place of the recorded one; null when it may. */
export function objectionTo(present: ContractRecord, recorded: ContractRecord | null): string | null {
  if (!recorded || present.contract > recorded.contract) return null;
  if (present.contract < recorded.contract) {
    return `CONTRACT is ${present.contract}, but ${recorded.contract} was already promised; it only ever goes up.`;
  }
  if (present.digest === recorded.digest) return null;
  return `What clients see has changed, but CONTRACT is still ${present.contract}. Raise it in packages/contract/src/rest/version.ts.`;
}

/** The contract of the newest release that the present state is based on, by its git tag; else why there is none to compare with. */
export function releasedContract(folder = fileAt(".").pathname): ContractRecord | string {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 2 ** 28,
    });
  let tag: string;
  try {
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v*").trim();
  } catch {
    return "There is no git, or no tag v… yet: the contract is compared with no release.";
  }
  const document = JSON.parse(git("show", `${tag}:openapi.json`)) as Document;
  return { contract: Number((document["info"] as Document)["version"]), digest: digestOf(document) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

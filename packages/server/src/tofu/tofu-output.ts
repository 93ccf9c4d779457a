import { createHash } from "node:crypto";
import type { ProvisioningPlan } from "@binnacle/contract";
import type { Diagnostic } from "../cloud/provider.ts";

/** The meaning of one line that OpenTofu has printed with `-json`. */
export interface TofuLine {
  /** The text for people; empty for a line without one. */
  readonly lines: readonly string[];
  /** An error; warnings are part of the text only. */
  readonly error: Diagnostic | null;
  /** Whether one of the planned operations has ended, well or not. */
  readonly isStep: boolean;
}

const LONGEST_LINE = 4_000;
const LONGEST_DIAGNOSTIC = 100;

const SILENT_TYPES = new Set(["outputs", "log"]);
const STEP_TYPES = new Set(["apply_complete", "apply_errored"]);

/** Masks the secrets of a text. */
export type Mask = (text: string) => string;

/**
 * Text that is not a message of OpenTofu, as a plugin or a shell may print, is passed on as it is. Secrets are masked before
 * anything is cut: the first half of one would not be recognized any more.
 */
export function readLine(text: string, mask: Mask): TofuLine {
  const message = parsedObject(text);
  if (!message || typeof message["@message"] !== "string") return plain(mask(text));
  const type = message["type"];
  if (type === "diagnostic") return diagnosticLine(message, mask);
  if (typeof type === "string" && SILENT_TYPES.has(type)) return { lines: [], error: null, isStep: false };
  const isStep = typeof type === "string" && STEP_TYPES.has(type);
  return { lines: storedLines(mask(message["@message"])), error: null, isStep };
}

const plain = (text: string): TofuLine => ({ lines: storedLines(text), error: null, isStep: false });

function diagnosticLine(message: Json, mask: Mask): TofuLine {
  const found = objectOf(message["diagnostic"]);
  const isError = (found["severity"] ?? message["@level"]) === "error";
  const summary = mask(textOf(found["summary"]) || textOf(message["@message"]) || "OpenTofu failed without a message.");
  const detail = mask(textOf(found["detail"]));
  const address = textOf(found["address"]) || null;
  const title = `${isError ? "Error" : "Warning"}: ${summary}${address ? ` (${address})` : ""}`;
  const lines = [...storedLines(title), ...storedLines(detail).map((line) => (line ? `  ${line}` : line))];
  return {
    lines: lines.slice(0, LONGEST_DIAGNOSTIC),
    error: isError ? { summary, detail, address } : null,
    isStep: false,
  };
}

const TERMINAL_CODES = /\p{Cc}\[[0-9;?]*[A-Za-z]|(?!\t)\p{Cc}/gu;

/** Splits at line ends, without what a terminal would interpret and PostgreSQL cannot store, and of bounded length. */
export function storedLines(text: string): string[] {
  if (text === "") return [];
  return text.split(/\r?\n/).map((line) => {
    // The regular expression sees no more than could be kept.
    const clean = line.slice(0, 2 * LONGEST_LINE).replace(TERMINAL_CODES, "");
    const isCut = clean.length > LONGEST_LINE || line.length > 2 * LONGEST_LINE;
    return (isCut ? `${clean.slice(0, LONGEST_LINE)}… (cut)` : clean).toWellFormed();
  });
}

export interface LineSplitter {
  /** Returns the lines that the text has completed. */
  push(text: string): string[];
  /** Returns what came after the last line end. */
  end(): string[];
}

/** A message of OpenTofu may carry the text of a whole answer of the cloud; beyond this it is cut, not collected. */
const LONGEST_INPUT = 1_048_576;

/** Collects at most `longest` characters of a line, so that output without a line end does not fill the memory. */
export function lineSplitter(longest = LONGEST_INPUT): LineSplitter {
  let rest = "";
  let isCutting = false;
  return {
    push(text) {
      const parts = text.split("\n");
      const last = parts.pop() ?? "";
      const complete: string[] = [];
      for (const part of parts) {
        if (!isCutting) complete.push((rest + part).slice(0, longest));
        rest = "";
        isCutting = false;
      }
      if (isCutting) return complete;
      rest += last;
      if (rest.length > longest) {
        complete.push(rest.slice(0, longest));
        rest = "";
        isCutting = true;
      }
      return complete;
    },
    end() {
      const last = rest;
      rest = "";
      return last === "" || isCutting ? [] : [last];
    },
  };
}

type Change = ProvisioningPlan["changes"][number];

export interface ReadPlan {
  readonly summary: ProvisioningPlan["summary"];
  readonly changes: readonly Change[];
  /** By its address, a hash of what an update changes, without secrets. */
  readonly updates: Readonly<Record<string, string>>;
  /** How many operations an apply of the plan ends; a replacement is two. */
  readonly steps: number;
}

/** Reads what `show -json` prints of a plan. Throws where it is not a plan. */
export function readPlan(text: string): ReadPlan {
  const plan = parsedObject(text);
  if (!plan || typeof plan["format_version"] !== "string")
    throw new Error("OpenTofu printed something that is not a plan.");
  const found = listOf(plan["resource_changes"]).flatMap((entry) => {
    const resource = objectOf(entry);
    const change = objectOf(resource["change"]);
    const actions = listOf(change["actions"]).map(textOf);
    const importing = textOf(objectOf(change["importing"])["id"]) || null;
    const action = actionOf(actions, importing !== null);
    if (resource["mode"] !== "managed" || action === null) return [];
    const id = importing ?? (textOf(objectOf(change["before"])["id"]) || null);
    const address = textOf(resource["address"]);
    return [{ change: { action, address, type: textOf(resource["type"]), id }, actions, hash: updateHash(change) }];
  });
  const count = (action: string) => found.filter(({ actions }) => actions.includes(action)).length;
  const summary = { add: count("create"), change: count("update"), remove: count("delete") };
  return {
    summary,
    changes: found.map(({ change }) => change),
    updates: Object.fromEntries(
      found.filter(({ actions }) => actions.includes("update")).map(({ change, hash }) => [change.address, hash]),
    ),
    steps: summary.add + summary.change + summary.remove,
  };
}

/** Tags with those of the provider, one of which names the job. */
const DERIVED = "tags_all";

/** Of a secret only that it changes is in it: who sees a hash could try values. */
function updateHash(change: Json): string {
  const [before, after, unknown] = ["before", "after", "after_unknown"].map((key) => objectOf(change[key])) as [
    Json,
    Json,
    Json,
  ];
  const secrets = [change["before_sensitive"], change["after_sensitive"]];
  const isSecret = (key: string) => secrets.some((marks) => marks === true || isMarked(objectOf(marks)[key]));
  const changed = [...new Set([before, after, unknown].flatMap(Object.keys))]
    .filter((key) => key !== DERIVED)
    .sort()
    .map((key) => [key, before[key] ?? null, after[key] ?? null, isMarked(unknown[key])] as const)
    .filter(([, was, will, isUnknown]) => isUnknown || JSON.stringify(was) !== JSON.stringify(will))
    .map(([key, ...values]) => (isSecret(key) ? [key] : [key, ...values]));
  return createHash("sha256").update(JSON.stringify(changed)).digest("hex");
}

/** Whether a mark of OpenTofu is on a value or on a part of it. */
const isMarked = (mark: unknown): boolean =>
  mark === true || (typeof mark === "object" && mark !== null && Object.values(mark).some(isMarked));

/** Null for what is only read, stays as it is, or is forgotten without being touched. */
function actionOf(actions: readonly string[], isImport: boolean): Change["action"] | null {
  if (actions.includes("create") && actions.includes("delete")) return "replace";
  if (actions.includes("create")) return "create";
  if (actions.includes("delete")) return "delete";
  if (isImport) return "import";
  return actions.includes("update") ? "update" : null;
}

export interface ReadState {
  readonly serial: number;
  readonly lineage: string;
  /** Whether the state has a resource of the type with the id. */
  knows(type: string, id: string): boolean;
  /** The resources whose creation did not end, which OpenTofu would replace. */
  readonly tainted: readonly TaintedResource[];
}

interface TaintedResource {
  readonly address: string;
  hasId(type: string, id: string): boolean;
}

/** Returns null for a text that is not a state of OpenTofu. */
export function readState(text: string): ReadState | null {
  const state = parsedObject(text);
  const { serial, lineage } = state ?? {};
  if (!state || !Number.isSafeInteger(serial) || typeof lineage !== "string") return null;
  const found = listOf(state["resources"]).flatMap((entry) => {
    const resource = objectOf(entry);
    return resource["mode"] === "managed"
      ? listOf(resource["instances"]).map((instance) => readInstance(resource, objectOf(instance)))
      : [];
  });
  const known = new Set(found.flatMap(({ ids }) => [...ids]));
  const tainted = found
    .filter(({ isTainted }) => isTainted)
    .map(({ address, ids }) => ({ address, hasId: (type: string, id: string) => ids.has(`${type} ${id}`) }));
  return { serial: Number(serial), lineage, knows: (type, id) => known.has(`${type} ${id}`), tainted };
}

function readInstance(resource: Json, instance: Json) {
  const type = textOf(resource["type"]);
  const key = instance["index_key"];
  // The id to import a resource by is one of its attributes, and not of all types the one called id.
  const texts = Object.values(objectOf(instance["attributes"])).filter((value) => typeof value === "string");
  return {
    address: `${type}.${textOf(resource["name"])}${key === undefined ? "" : `[${JSON.stringify(key)}]`}`,
    ids: new Set(texts.map((value) => `${type} ${value}`)),
    // Of one that was replaced, the predecessor that is still to go is no longer at the address.
    isTainted: instance["status"] === "tainted" && instance["deposed"] === undefined,
  };
}

type Json = Readonly<Record<string, unknown>>;

function parsedObject(text: string): Json | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return null;
  }
}

const objectOf = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

import { isRecord, isSame } from "../fields/typed-value.ts";

/** The patch cannot be carried out on this document. */
export class PatchFailed extends Error {
  override readonly name = "PatchFailed";
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** RFC 6902: all operations in their order, or none. */
export function jsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw new PatchFailed("cannot unmarshal the patch into a list of operations");
  let result = structuredClone(document);
  for (const operation of operations) result = carryOut(result, operation as Operation);
  return result;
}

function carryOut(document: unknown, { op, path, from, value }: Operation): unknown {
  switch (op) {
    case "add":
      return put(document, steps(path), value, "add");
    case "replace":
      return put(document, steps(path), value, "replace");
    case "remove":
      return remove(document, steps(path));
    case "move":
      return put(
        remove(structuredClone(document), steps(from ?? "")),
        steps(path),
        read(document, steps(from ?? "")),
        "add",
      );
    case "copy":
      return put(document, steps(path), structuredClone(read(document, steps(from ?? ""))), "add");
    case "test":
      if (isSame(read(document, steps(path)), value)) return document;
      throw new PatchFailed(`testing value ${path} failed: test failed`);
    default:
      throw new PatchFailed(`Unexpected kind: ${op}`);
  }
}

function steps(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw new PatchFailed(`jsonpatch: invalid path ${pointer}`);
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function read(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const step of path) {
    if (Array.isArray(value)) value = value[place(step, value.length - 1)];
    else if (isRecord(value) && Object.hasOwn(value, step)) value = value[step];
    else throw missing(path);
  }
  return value;
}

function put(document: unknown, path: readonly string[], value: unknown, op: "add" | "replace"): unknown {
  const last = path.at(-1);
  if (last === undefined) return value;
  const parent = read(document, path.slice(0, -1));
  if (Array.isArray(parent)) {
    if (op === "replace") parent[place(last, parent.length - 1)] = value;
    else parent.splice(last === "-" ? parent.length : place(last, parent.length), 0, value);
  } else if (isRecord(parent)) {
    if (op === "replace" && !Object.hasOwn(parent, last)) throw missing(path);
    (parent as Record<string, unknown>)[last] = value;
  } else throw missing(path);
  return document;
}

function remove(document: unknown, path: readonly string[]): unknown {
  const last = path.at(-1) ?? "";
  const parent = read(document, path.slice(0, -1));
  if (Array.isArray(parent)) parent.splice(place(last, parent.length - 1), 1);
  else if (isRecord(parent) && Object.hasOwn(parent, last)) delete (parent as Record<string, unknown>)[last];
  else throw missing(path);
  return document;
}

function place(step: string, most: number): number {
  const at = /^(0|[1-9]\d*)$/.test(step) ? Number(step) : Number.NaN;
  if (!(at <= most)) throw new PatchFailed(`index out of bounds: ${step}: Unable to access invalid index`);
  return at;
}

const missing = (path: readonly string[]) =>
  new PatchFailed(`the path /${path.join("/")} leads to a missing path: missing value`);

import { KINDS, MESSAGES } from "../kinds.ts";
import { compactFieldsOf } from "./kubernetes-schema.ts";

/** Bytes that are not a Protobuf message of a known kind. */
export class NotProtobuf extends Error {
  override readonly name = "NotProtobuf";
}

type Value = bigint | Uint8Array;
interface Part {
  readonly number: number;
  readonly value: Value;
}

const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/** An object that a client has sent as Kubernetes does in Protobuf: an envelope with the kind, and the object in it. */
export function fromProtobuf(bytes: Uint8Array): Record<string, unknown> {
  if (MAGIC.some((byte, at) => bytes[at] !== byte))
    throw new NotProtobuf("provided data does not appear to be a protobuf message");
  const envelope = partsOf(bytes.subarray(4));
  const typeMeta = partsOf(bytesAt(envelope, 1));
  const [apiVersion, kind] = [textOf(bytesAt(typeMeta, 1)), textOf(bytesAt(typeMeta, 2))];
  return { apiVersion, kind, ...messageOf(typeNamed(apiVersion, kind), bytesAt(envelope, 2)) };
}

function typeNamed(apiVersion: string, kind: string): string {
  const [version, group = ""] = apiVersion.split("/").reverse();
  const known =
    KINDS.find((one) => one.group === group && one.version === version && one.kind === kind) ??
    MESSAGES.find((one) => one.apiVersion === apiVersion && one.kind === kind) ??
    MESSAGES.find((one) => one.kind === kind && kind === "DeleteOptions");
  if (!known)
    throw new NotProtobuf(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  return known.type;
}

/** A field, or the fields of a struct that is a message of its own only here. */
type Numbered = Map<number, { readonly name: string; readonly type: string } | Numbered>;
const numbered = new Map<string, Numbered>();

function numbersOf(type: string): Numbered {
  const known = numbered.get(type);
  if (known) return known;
  const fields: Numbered = new Map();
  for (const [name, text] of Object.entries(compactFieldsOf(type))) {
    const [fieldType = "", ...words] = text.split(" ");
    const path =
      words
        .find((word) => word.startsWith("#"))
        ?.slice(1)
        .split(".")
        .map(Number) ?? [];
    const last = path.pop();
    if (last !== undefined) path.reduce(inner, fields).set(last, { name, type: fieldType });
  }
  numbered.set(type, fields);
  return fields;
}

function inner(fields: Numbered, number: number): Numbered {
  const known = fields.get(number);
  if (known instanceof Map) return known;
  const made: Numbered = new Map();
  fields.set(number, made);
  return made;
}

const messageOf = (type: string, bytes: Uint8Array) => fieldsOf(numbersOf(type), bytes, {});

function fieldsOf(fields: Numbered, bytes: Uint8Array, result: Record<string, unknown>): Record<string, unknown> {
  for (const { number, value } of partsOf(bytes)) {
    const field = fields.get(number);
    if (field instanceof Map) fieldsOf(field, asBytes(value), result);
    else if (field) add(result, field, value);
  }
  return result;
}

function add(
  result: Record<string, unknown>,
  { name, type }: { readonly name: string; readonly type: string },
  value: Value,
): void {
  if (type.startsWith("[")) {
    const list = (result[name] as unknown[] | undefined) ?? [];
    result[name] = [...list, fieldValue(type.slice(1, -1), value)];
  } else if (type.startsWith("{")) {
    const entry = partsOf(asBytes(value));
    const inner = entry.find(({ number }) => number === 2)?.value ?? new Uint8Array();
    result[name] = {
      ...(result[name] as object | undefined),
      [textOf(bytesAt(entry, 1))]: fieldValue(type.slice(1, -1), inner),
    };
  } else {
    const single = fieldValue(type, value);
    if (single !== undefined) result[name] = single;
  }
}

function fieldValue(type: string, value: Value): unknown {
  switch (type) {
    case "string":
      return textOf(asBytes(value));
    case "bytes":
      return Buffer.from(asBytes(value)).toString("base64");
    case "integer":
    case "int64":
      return Number(BigInt.asIntN(64, asNumber(value)));
    case "boolean":
      return asNumber(value) !== 0n;
    case "number":
      return new DataView(asBytes(value).slice().buffer).getFloat64(0, true);
    case "Quantity":
      return textOf(bytesAt(partsOf(asBytes(value)), 1));
    case "Time":
    case "MicroTime":
      return timeOf(partsOf(asBytes(value)));
    case "IntOrString":
      return intOrString(partsOf(asBytes(value)));
    case "any":
      return rawOf(bytesAt(partsOf(asBytes(value)), 1));
    default:
      return messageOf(type, asBytes(value));
  }
}

const numberAt = (parts: readonly Part[], number: number): bigint => {
  const found = parts.find((part) => part.number === number)?.value;
  return typeof found === "bigint" ? BigInt.asIntN(64, found) : 0n;
};

/** A time that nobody has set is an empty message. */
function timeOf(parts: readonly Part[]): string | undefined {
  if (parts.length === 0) return undefined;
  return new Date(Number(numberAt(parts, 1)) * 1000 + Number(numberAt(parts, 2)) / 1e6).toISOString();
}

const intOrString = (parts: readonly Part[]): string | number =>
  numberAt(parts, 1) === 1n ? textOf(bytesAt(parts, 3)) : Number(numberAt(parts, 2));

function rawOf(bytes: Uint8Array): unknown {
  try {
    return bytes.length === 0 ? undefined : JSON.parse(textOf(bytes));
  } catch {
    throw new NotProtobuf("a raw part of the message is not JSON");
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

function asBytes(value: Value): Uint8Array {
  if (typeof value === "bigint") throw new NotProtobuf("wrong wireType");
  return value;
}

function asNumber(value: Value): bigint {
  if (typeof value !== "bigint") throw new NotProtobuf("wrong wireType");
  return value;
}

function bytesAt(parts: readonly Part[], number: number): Uint8Array {
  const found = parts.find((part) => part.number === number)?.value;
  return found === undefined || typeof found === "bigint" ? new Uint8Array() : found;
}

/** The fields of a message by their numbers, in their order. */
function partsOf(bytes: Uint8Array): Part[] {
  const parts: Part[] = [];
  let at = 0;
  const varint = (): bigint => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw new NotProtobuf("unexpected EOF");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
      shift += 7n;
    }
  };
  const taken = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new NotProtobuf("unexpected EOF");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const [number, wire] = [Math.floor(key / 8), key % 8];
    if (wire === 0) parts.push({ number, value: varint() });
    else if (wire === 1) parts.push({ number, value: taken(8) });
    else if (wire === 2) parts.push({ number, value: taken(Number(varint())) });
    else if (wire === 5) parts.push({ number, value: taken(4) });
    else throw new NotProtobuf(`illegal wireType ${wire}`);
  }
  return parts;
}

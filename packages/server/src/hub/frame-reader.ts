import {
  CLOSE,
  type CloseCode,
  DESIRED_KINDS,
  type DesiredKind,
  LINK_LIMITS,
  LINK_VERSION,
  OPERATOR_FRAMES,
  type OperatorFrame,
  Report,
} from "@binnacle/contract";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { unsafeText } from "./frame-texts.ts";

/** Why a session ends. `why` names no value of the frame: it goes to the log and to the peer. */
export interface Refusal {
  readonly closeCode: CloseCode;
  readonly why: string;
}

export type ReadFrame = { readonly frame: OperatorFrame } | { readonly refusal: Refusal };

type FrameType = keyof typeof OPERATOR_FRAMES;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Compiled once; the first problem is enough to refuse a frame. */
const ajv = addFormats.default(new Ajv({ strict: true }), ["date-time"]).addFormat("uuid", UUID);
const SHAPES = new Map<string, ValidateFunction>(
  Object.entries(OPERATOR_FRAMES).map(([type, schema]) => [type, ajv.compile(schema)]),
);
const REPORTS = new Map<string, ValidateFunction>(DESIRED_KINDS.map((kind) => [kind, ajv.compile(Report[kind])]));

export const kindOfKey = (key: string): DesiredKind => key.slice(0, key.indexOf("/")) as DesiredKind;

/**
 * Makes of what came over the wire a frame that may be believed in its form, or says with which code the session ends.
 * `sessionId` is null until the hub has given one: then a `hello` is all that may come, and afterwards it may not.
 */
export function readFrame(bytes: Buffer, sessionId: string | null): ReadFrame {
  if (bytes.length > LINK_LIMITS.frameBytes) return broken("the frame is too large");
  const value = parse(bytes.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return broken("the frame is no JSON object");
  const { type, session, versions } = value as Record<string, unknown>;
  const check = typeof type === "string" ? SHAPES.get(type) : undefined;
  if (!check) return broken("the frame's type is unknown");
  if (sessionId === null && type !== "hello") return broken(`${type as FrameType} came before hello`);
  if (sessionId !== null && type === "hello") return broken("hello came twice");
  // First of all: a later protocol may give its hello another shape.
  if (type === "hello" && isForeignVersion(versions)) {
    return { refusal: { closeCode: CLOSE.versionTooOld, why: `this hub speaks version ${LINK_VERSION}` } };
  }
  if (!check(value)) return broken(`${type as FrameType} is malformed at ${placeOf(check)}`);
  if (sessionId !== null && session !== sessionId) return broken(`${type as FrameType} names another session`);
  const frame = value as OperatorFrame;
  if (frame.type === "status" && !REPORTS.get(kindOfKey(frame.key))?.(frame.report)) {
    return broken("status reports what its key is not");
  }
  const unsafe = unsafeText(frame);
  return unsafe === null ? { frame } : broken(`${frame.type} has text at ${unsafe} that is not fit to be shown`);
}

const broken = (why: string): ReadFrame => ({ refusal: { closeCode: CLOSE.protocolError, why } });

/** Pointers hold names from the frame: only those that the schemas know are repeated. */
function placeOf({ errors }: ValidateFunction): string {
  const place = errors?.[0]?.instancePath ?? "";
  return /^[a-z_/0-9]{1,100}$/.test(place) ? place : "/";
}

function isForeignVersion(versions: unknown): boolean {
  return Array.isArray(versions) && versions.length > 0 && !versions.includes(LINK_VERSION);
}

function parse(text: string): unknown {
  try {
    // An escape is the only way in which a character that PostgreSQL cannot store can come.
    return text.includes("\\u") ? JSON.parse(text, storable) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function storable(_: string, value: unknown): unknown {
  if (typeof value === "string") return cleaned(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const names = Object.keys(value);
  if (names.every((name) => cleaned(name) === name)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [cleaned(name), inner]));
}

const cleaned = (text: string) => text.toWellFormed().replaceAll("\0", "\ufffd");

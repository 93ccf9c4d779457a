import {
  CLOSE,
  type CloseCode,
  DESIRED_KINDS,
  type DesiredKind,
  isSafeText,
  LINK_LIMITS,
  LINK_VERSION,
  misfitOf,
  OPERATOR_FRAMES,
  type OperatorFrame,
  type OperatorFrames,
  Report,
} from "@binnacle/contract";
import type { TSchema } from "typebox";

/** Why a session ends. `why` goes to the log and to the peer, so it repeats no value of the frame. */
export interface Refusal {
  readonly closeCode: CloseCode;
  readonly why: string;
}

export type ReadFrame = { readonly frame: OperatorFrame } | { readonly refusal: Refusal };

type FrameType = keyof typeof OPERATOR_FRAMES;

const { status, ...others } = OPERATOR_FRAMES;
/** The report of a status has the shape of its key's kind, so that each frame is validated once, by one schema. */
export const FRAME_SCHEMAS: ReadonlyMap<string, TSchema> = new Map<string, TSchema>([
  ...Object.entries(others),
  ["status", status],
  ...DESIRED_KINDS.map((kind) => {
    const schema = { ...status, properties: { ...status.properties, report: Report[kind] } };
    return [`status ${kind}`, schema] as const;
  }),
]);

export const kindOfKey = (key: string): DesiredKind => key.slice(0, key.indexOf("/")) as DesiredKind;

function schemaOf({ type, key }: Record<string, unknown>): TSchema | undefined {
  if (typeof type !== "string" || !Object.hasOwn(OPERATOR_FRAMES, type)) return undefined;
  const ofKind = type === "status" && typeof key === "string" ? `status ${kindOfKey(key)}` : type;
  return FRAME_SCHEMAS.get(ofKind) ?? FRAME_SCHEMAS.get(type);
}

/**
 * Validates a frame of an operator: everything behind this function relies on its form and its texts. It returns the code
 * with which the session ends where the frame is not valid. `sessionId` is null until the hub has assigned one: only a
 * `hello` may come before that, and none afterwards.
 */
export function readFrame(bytes: Buffer, sessionId: string | null): ReadFrame {
  if (bytes.length > LINK_LIMITS.frameBytes) return broken("the frame is too large");
  const value = parse(bytes.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return broken("the frame is not a JSON object");
  const { type, session, versions } = value as Record<string, unknown>;
  const schema = schemaOf(value as Record<string, unknown>);
  if (!schema) return broken("the frame's type is unknown");
  if (sessionId === null && type !== "hello") return broken(`${type as FrameType} came before hello`);
  if (sessionId !== null && type === "hello") return broken("hello came twice");
  // The version comes first, because a later protocol may give its hello another shape.
  if (type === "hello" && isForeignVersion(versions)) {
    return { refusal: { closeCode: CLOSE.versionTooOld, why: `this hub speaks version ${LINK_VERSION}` } };
  }
  const misfit = misfitOf(schema, value);
  if (misfit !== null) return broken(`${type as FrameType} is malformed at ${shown(misfit)}`);
  if (sessionId !== null && session !== sessionId) return broken(`${type as FrameType} names another session`);
  const frame = value as OperatorFrame;
  const unsafe = unsafeText(frame);
  return unsafe === null ? { frame } : broken(`${frame.type} has text at ${unsafe} that must not be shown`);
}

const broken = (why: string): ReadFrame => ({ refusal: { closeCode: CLOSE.protocolError, why } });

/** A pointer holds names from the frame. Only one that the schemas could contain is repeated. */
const shown = (place: string): string => (/^[a-z_/0-9]{1,100}$/.test(place) ? place : "/");

function isForeignVersion(versions: unknown): boolean {
  return Array.isArray(versions) && versions.length > 0 && !versions.includes(LINK_VERSION);
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // A character that PostgreSQL cannot store can only come as an escape. Log lines are not stored, and they are credited by the
    // length that their operator has counted.
    const isStored = (value as { type?: unknown } | null)?.type !== "stream_data";
    return isStored && text.includes("\\u") ? JSON.parse(text, storable) : value;
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

type Text = string | null | undefined;

/** The place of a text with markup or a secret in it, or null. */
function unsafeText(frame: OperatorFrame): string | null {
  for (const [place, text] of textsOf(frame)) {
    if (typeof text === "string" && !isSafeText(text)) return place;
  }
  return null;
}

/** Log lines and output are not checked: they are shown as the output of a program, not as a message. */
function textsOf(frame: OperatorFrame): readonly (readonly [string, Text])[] {
  switch (frame.type) {
    case "nack":
      return [["message", frame.message]];
    case "status":
      return reportTexts(frame.report);
    case "response":
      return answerTexts(frame.answer);
    case "stream_end":
      return [["error", frame.error]];
    case "build":
      return [
        ["message", frame.message],
        ["reason", frame.reason],
      ];
    case "ack":
    case "heartbeat":
    case "hello":
    case "inventory":
    case "samples":
    case "stream_data":
    case "stream_target":
    case "stream_output":
    case "stream_credit":
    case "token_stored":
      return [];
  }
}

function answerTexts(answer: OperatorFrames["response"]["answer"]): readonly (readonly [string, Text])[] {
  if ("error" in answer) return [["error", answer.error.message]];
  if ("resources" in answer) {
    return answer.resources.objects.flatMap(({ message, reason }): [string, Text][] => [
      ["resource message", message],
      ["resource reason", reason],
    ]);
  }
  if ("run" in answer) return [["run message", answer.run?.message]];
  if (!("events" in answer)) return [];
  return answer.events.events.flatMap(({ message, reason, type }): [string, Text][] => [
    ["event message", message],
    ["event reason", reason],
    ["event type", type],
  ]);
}

function reportTexts(report: object): readonly (readonly [string, Text])[] {
  const {
    message,
    reason,
    drift,
    components_status = [],
  } = report as {
    message?: Text;
    reason?: Text;
    drift?: { summary?: Text };
    components_status?: readonly { message: Text }[];
  };
  return [
    ["message", message],
    ["reason", reason],
    ["drift summary", drift?.summary],
    ...components_status.map((component): [string, Text] => ["component message", component.message]),
  ];
}

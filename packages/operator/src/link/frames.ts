import {
  APPLY_FRAMES,
  HUB_FRAMES,
  type HubFrame,
  type HubFrames,
  misfitOf,
  OPERATOR_FRAMES,
  type OperatorFrame,
} from "@binnacle/contract";
import Type, { type TSchema } from "typebox";

/** An `apply` with unknown content. It is answered with a nack and does not end the session. */
export interface MalformedApply {
  readonly malformed: Pick<HubFrames["apply"], "id" | "session" | "key" | "generation">;
  readonly where: string;
}

export type ReceivedFrame =
  | { readonly frame: HubFrame }
  | MalformedApply
  /** A violation of the protocol. */
  | { readonly problem: string };

const { type: _, ...named } = HUB_FRAMES.remove.properties;
const ApplyEnvelope = Type.Object({ type: Type.Literal("apply"), ...named });

/** Parses a frame. A problem quotes nothing of the frame, because it may hold secrets. */
export function readHubFrame(text: string): ReceivedFrame {
  const value = parsed(text);
  const type = isRecord(value) && typeof value["type"] === "string" ? value["type"] : null;
  if (type === null) return { problem: "a frame is not a JSON object with a type" };
  if (!Object.hasOwn(HUB_FRAMES, type)) return { problem: "a frame has a type that this operator does not know" };
  const misfit = misfitOf(schemaOf(type as HubFrame["type"], value), value);
  if (misfit === null) return { frame: value as HubFrame };
  const where = misfit || ROOT;
  if (type === "apply" && misfitOf(ApplyEnvelope, value) === null) {
    return { malformed: value as HubFrames["apply"], where };
  }
  return { problem: `a frame of the type ${type} is malformed at ${where}` };
}

/** For an `apply` the schema of its kind alone, so that an error has one location. */
function schemaOf(type: HubFrame["type"], value: unknown): TSchema {
  if (type !== "apply" || !isRecord(value)) return HUB_FRAMES[type];
  const kind = String(value["kind"]);
  const known = Object.hasOwn(APPLY_FRAMES, kind) ? APPLY_FRAMES[kind] : undefined;
  return known ?? HUB_FRAMES.apply;
}

const ROOT = "its root";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Frames with content from the cluster are validated. All others are built here and fit by their types. */
const GATHERED: ReadonlySet<OperatorFrame["type"]> = new Set(["status", "build", "samples", "response", "stream_data"]);

/** The reason why the hub would reject a frame; null where it is valid. Names the location, never the value. */
export function faultIn(frame: OperatorFrame): string | null {
  if (!GATHERED.has(frame.type)) return null;
  const misfit = misfitOf(OPERATOR_FRAMES[frame.type], frame);
  return misfit === null ? null : `it is malformed at ${misfit || ROOT}`;
}

type WithoutSession<F> = F extends { readonly session: string } ? Omit<F, "session"> : never;

/** A frame without its session, which is added when it is sent. */
export type OutgoingFrame = WithoutSession<OperatorFrame>;
export type OutgoingFrameOf<T extends OutgoingFrame["type"]> = Extract<OutgoingFrame, { readonly type: T }>;

import { OPERATOR_FRAMES, type OperatorFrame } from "@binnacle/contract";
import { Compile, type Validator } from "typebox/compile";

/** Those whose content is gathered elsewhere; all others are made here, and fit. */
const GATHERED: ReadonlySet<OperatorFrame["type"]> = new Set(["status", "build", "samples", "response", "stream_data"]);

const validators = new Map<OperatorFrame["type"], Validator>();

/** What the hub would not take of a frame; null where it fits. The place is named, never the value. */
export function faultIn(frame: OperatorFrame): string | null {
  if (!GATHERED.has(frame.type)) return null;
  const validator = validators.get(frame.type) ?? Compile(OPERATOR_FRAMES[frame.type]);
  validators.set(frame.type, validator);
  if (validator.Check(frame)) return null;
  const [first] = validator.Errors(frame);
  return `it is malformed at ${first?.instancePath || "its root"}`;
}

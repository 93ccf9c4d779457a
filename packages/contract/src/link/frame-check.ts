import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";

/** Compiled when first used: most operators never receive a stream frame, and a hub that starts again is waited for. */
const validators = new Map<TSchema, Validator>();

function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const compiled = Compile(schema);
  validators.set(schema, compiled);
  return compiled;
}

/** Returns the place at which a frame does not fit its schema, as a JSON pointer, or null where it fits. Both sides of the link use it. */
export function misfitOf(schema: TSchema, value: unknown): string | null {
  const validator = validatorOf(schema);
  return validator.Check(value) ? null : (validator.Errors(value)[0]?.instancePath ?? "");
}

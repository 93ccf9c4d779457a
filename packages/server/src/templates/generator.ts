import type { TemplateParameter } from "@binnacle/contract";
import { v4 } from "uuid";

export type RandomBytes = (size: number) => Uint8Array;
export type Generator = NonNullable<TemplateParameter["generator"]>;

/** Letters and digits only: such a password needs quoting nowhere, in no URL and in no shell. */
const PASSWORD_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const USUAL_LENGTH = { random_password: 24, random_hex: 32, uuid: 36 } as const;
const LONGEST_GENERATED = 1024;

/** Why the parameter cannot be generated: what is made must always be what the parameter takes. */
export function generatorProblem(parameter: TemplateParameter, generator: Generator): string | null {
  const { type, pattern, options, min = 0, max = Number.POSITIVE_INFINITY } = parameter;
  if (type !== "string" && type !== "secret") return "has a generator, which makes text";
  if (pattern !== undefined || options) return "has a generator and limits that it does not know";
  if (parameter.default !== undefined) return "has both a generator and a default";
  const [shortest, longest] = generator === "uuid" ? [USUAL_LENGTH.uuid, USUAL_LENGTH.uuid] : [1, LONGEST_GENERATED];
  const hasRoom = Math.max(shortest, Math.ceil(min)) <= Math.min(longest, Math.floor(max));
  return hasRoom ? null : "has a generator that cannot keep its bounds";
}

export function generateValue({ min, max }: TemplateParameter, generator: Generator, draw: RandomBytes): string {
  const length = Math.min(Math.max(USUAL_LENGTH[generator], Math.ceil(min ?? 0)), Math.floor(max ?? LONGEST_GENERATED));
  switch (generator) {
    case "random_password":
      return password(length, draw);
    case "random_hex":
      return Buffer.from(draw(length)).toString("hex").slice(0, length);
    case "uuid":
      return v4({ random: draw(16) });
  }
}

/** Bytes beyond the last whole multiple of the alphabet are thrown away; with them, some letters would come more often. */
function password(length: number, draw: RandomBytes): string {
  const size = PASSWORD_ALPHABET.length;
  let text = "";
  while (text.length < length) {
    const fair = [...draw(length)].filter((byte) => byte < 256 - (256 % size));
    text += fair.map((byte) => PASSWORD_ALPHABET[byte % size]).join("");
  }
  return text.slice(0, length);
}

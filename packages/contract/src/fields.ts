import Type, { type TSchema } from "typebox";

const CONTROL = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029";
const BLANK = " \\u00a0\\u00ad\\u061c\\u1680\\u180e\\u2000-\\u200f\\u202a-\\u202f\\u205f-\\u206f\\u3000\\ufeff";
/** One line without control characters, with something in it to see. Neighbouring classes share no character. */
const PRINTABLE = `^[${BLANK}]*[^${BLANK}${CONTROL}][^${CONTROL}]*$`;

export const Uuid = (description?: string) =>
  Type.String({
    format: "uuid",
    examples: ["01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11"],
    ...(description ? { description } : {}),
  });

export const Timestamp = (description?: string) =>
  Type.String({ format: "date-time", examples: ["2026-01-31T09:30:00.000Z"], ...(description ? { description } : {}) });

/** The name of an organization, a cluster or a credential: for people to read. */
export const DisplayName = (example: string) =>
  Type.String({ minLength: 1, maxLength: 100, pattern: PRINTABLE, examples: [example] });

export const Description = Type.String({
  maxLength: 2000,
  description: "Free text.",
  examples: ["Everything that customers see."],
});

export const Email = Type.String({
  format: "email",
  maxLength: 254,
  examples: ["ada@example.com"],
});

export const Password = Type.String({ minLength: 8, maxLength: 128, examples: ["correct horse battery staple"] });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Request bodies are strict: an unknown field is refused, not ignored. */
export const strict = { additionalProperties: false } as const;

/** A name that becomes a Kubernetes name. */
export const DnsLabel = (example: string, maxLength = 63) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", examples: [example] });

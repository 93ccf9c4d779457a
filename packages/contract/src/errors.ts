import Type, { type Static } from "typebox";

/** The types of validation errors, with the names that pydantic uses. */
export const VALIDATION_TYPES = [
  "missing",
  "extra_forbidden",
  "string_type",
  "int_type",
  "float_type",
  "bool_type",
  "list_type",
  "dict_type",
  "uuid_parsing",
  "datetime_parsing",
  "enum",
  "greater_than",
  "greater_than_equal",
  "less_than",
  "less_than_equal",
  "string_too_short",
  "string_too_long",
  "string_pattern_mismatch",
  "too_short",
  "too_long",
  "json_invalid",
  "value_error",
] as const;
export type ValidationType = (typeof VALIDATION_TYPES)[number];

export const ValidationItem = Type.Object(
  {
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
      description: "Where: `body`, `query`, `path` or `cookie`, then the way to the field.",
      examples: [["body", "name"]],
    }),
    msg: Type.String({ examples: ["Field required"] }),
    type: Type.Enum(VALIDATION_TYPES, { examples: ["missing"] }),
  },
  { title: "ValidationItem" },
);
export type ValidationItem = Static<typeof ValidationItem>;

export const ValidationFailure = Type.Object(
  { detail: Type.Array(ValidationItem) },
  { title: "ValidationFailure", description: "Every invalid field of the request, all at once." },
);

export const Failure = Type.Object(
  { detail: Type.String({ examples: ["Not found."] }) },
  { title: "Failure", description: "What went wrong, as a sentence." },
);

/** The machine-readable codes of a refused operation. Clients may rely on the list being complete. */
export const CONFLICT_CODES = [
  "blocked_sync",
  "export_ref_in_use",
  "app_paused",
  "app_not_paused",
  "app_deleting",
  "app_suspended",
  "project_suspended",
  "cluster_suspended",
  "ambiguous_template",
  "name_taken",
  "host_taken",
  "email_unverified",
  "recreate_required",
  "stateful_downgrade",
  "exec_disabled",
  "not_running",
] as const;
export type ConflictCode = (typeof CONFLICT_CODES)[number];

const CodedConflict = Type.Object(
  {
    detail: Type.Object(
      { code: Type.Enum(CONFLICT_CODES), message: Type.String({ examples: ["The app is being deleted."] }) },
      { additionalProperties: true, examples: [{ code: "app_deleting", message: "The app is being deleted." }] },
    ),
  },
  { title: "CodedConflict", description: "Why not: a code for programs, a sentence for people, and what it is about." },
);
export const codedConflictBody = { 409: CodedConflict };
/** Of operations that also refuse with a plain sentence, such as in a project that is being deleted, or for a reused Idempotency-Key. */
export const conflictBody = { 409: Type.Union([CodedConflict, Failure]) };

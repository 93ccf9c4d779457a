export interface FaultCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface FaultDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly FaultCause[];
}

/** A refusal, as Kubernetes puts it. */
export class ApiFault extends Error {
  override readonly name = "ApiFault";
  readonly code: number;
  readonly reason: string;
  readonly details: FaultDetails | undefined;
  /** Where a list that has expired can go on. */
  readonly continueToken: string | undefined;

  constructor(code: number, reason: string, message: string, details?: FaultDetails, continueToken?: string) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.continueToken = continueToken;
  }
}

interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

const qualified = ({ group, plural }: ResourceName) => (group === "" ? plural : `${plural}.${group}`);
const details = ({ group, plural }: ResourceName, name?: string) => ({
  ...(name === undefined ? {} : { name }),
  ...(group === "" ? {} : { group }),
  kind: plural,
});

export const notFound = (resource: ResourceName, name: string): ApiFault =>
  new ApiFault(404, "NotFound", `${qualified(resource)} ${JSON.stringify(name)} not found`, details(resource, name));

export const pathNotFound = (): ApiFault =>
  new ApiFault(404, "NotFound", "the server could not find the requested resource", {});

export const alreadyExists = (resource: ResourceName, name: string): ApiFault =>
  new ApiFault(
    409,
    "AlreadyExists",
    `${qualified(resource)} ${JSON.stringify(name)} already exists`,
    details(resource, name),
  );

export function conflict(resource: ResourceName, name: string, why: string): ApiFault {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} ${JSON.stringify(name)}: ${why}`;
  return new ApiFault(409, "Conflict", message, details(resource, name));
}

export const isStale = (resource: ResourceName, name: string): ApiFault =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );

export const badRequest = (message: string): ApiFault => new ApiFault(400, "BadRequest", message);

export const methodNotAllowed = (): ApiFault =>
  new ApiFault(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

export const gone = (message: string, continueToken?: string): ApiFault =>
  new ApiFault(410, "Expired", message, undefined, continueToken);

export const internal = (message: string): ApiFault =>
  new ApiFault(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

export function forbidden(resource: ResourceName, name: string, why: string, causes?: readonly FaultCause[]): ApiFault {
  const message = `${qualified(resource)} ${JSON.stringify(name)} is forbidden: ${why}`;
  return new ApiFault(403, "Forbidden", message, { ...details(resource, name), ...(causes ? { causes } : {}) });
}

/** One thing that is wrong with a field. */
export interface FieldProblem {
  readonly reason:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueDuplicate"
    | "FieldValueTooLong"
    | "FieldValueTypeInvalid"
    | "FieldValueNotFound";
  readonly field: string;
  readonly message: string;
}

export const required = (field: string, why = ""): FieldProblem => ({
  reason: "FieldValueRequired",
  field,
  message: why === "" ? "Required value" : `Required value: ${why}`,
});
export const invalidValue = (field: string, value: unknown, why: string): FieldProblem => ({
  reason: "FieldValueInvalid",
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
});
export const notSupported = (field: string, value: unknown, known: readonly string[]): FieldProblem => ({
  reason: "FieldValueNotSupported",
  field,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${known.map((one) => JSON.stringify(one)).join(", ")}`,
});
export const forbiddenField = (field: string, why: string): FieldProblem => ({
  reason: "FieldValueForbidden",
  field,
  message: `Forbidden: ${why}`,
});
export const duplicate = (field: string, value: unknown): FieldProblem => ({
  reason: "FieldValueDuplicate",
  field,
  message: `Duplicate value: ${JSON.stringify(value)}`,
});

export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  problems: readonly FieldProblem[],
): ApiFault {
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  const [only = ""] = texts;
  const what = texts.length === 1 ? only : `[${texts.join(", ")}]`;
  const title = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  return new ApiFault(422, "Invalid", `${title} ${JSON.stringify(name)} is invalid: ${what}`, {
    name,
    ...(kind.group === "" ? {} : { group: kind.group }),
    kind: kind.kind,
    causes: problems,
  });
}

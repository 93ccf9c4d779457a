/** The details of a failure, as in the API server's `Status` objects. */
export interface StatusDetails {
  readonly name?: string;
  readonly kind?: string;
  readonly group?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
}

export interface Failure {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails | undefined;
  readonly continueToken?: string | undefined;
  readonly cause?: unknown;
}

export class KubeError extends Error {
  override readonly name: string = "KubeError";
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails;
  /** Where a list whose token has expired can go on. */
  readonly continueToken: string | undefined;

  constructor({ status, reason, message, details = {}, continueToken, cause }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.details = details;
    this.continueToken = continueToken;
  }
}

/** A field that somebody else manages; the path is as Kubernetes writes it, like `.spec.replicas`. */
export interface FieldConflict {
  readonly field: string;
  readonly manager: string;
}

/** Server-side apply was refused because other managers have some of the fields. */
export class KubeConflict extends KubeError {
  override readonly name = "KubeConflict";
  readonly conflicts: readonly FieldConflict[];

  constructor(failure: Failure, conflicts: readonly FieldConflict[]) {
    super(failure);
    this.conflicts = conflicts;
  }
}

/** The error that an answer of the API server stands for. */
export function kubeErrorOf(
  httpStatus: number,
  body: unknown,
  request: string,
  retryAfterSeconds = Number.NaN,
): KubeError {
  const status: Readonly<Record<string, unknown>> = isRecord(body) && body["kind"] === "Status" ? body : {};
  const said = isRecord(status["details"]) ? (status["details"] as StatusDetails) : undefined;
  // A server that is too busy to look at the request says so in the header alone.
  const details = Number.isNaN(retryAfterSeconds) ? said : { retryAfterSeconds, ...said };
  const { continue: token } = isRecord(status["metadata"]) ? status["metadata"] : {};
  const failure: Failure = {
    status: typeof status["code"] === "number" ? status["code"] : httpStatus,
    reason: typeof status["reason"] === "string" ? status["reason"] : `HTTP ${httpStatus}`,
    message: typeof status["message"] === "string" ? status["message"] : `${request} was answered with ${httpStatus}.`,
    details,
    continueToken: typeof token === "string" && token !== "" ? token : undefined,
  };
  const conflicts = (details?.causes ?? []).filter(({ reason }) => reason === "FieldManagerConflict");
  if (failure.status !== 409 || conflicts.length === 0) return new KubeError(failure);
  return new KubeConflict(
    failure,
    conflicts.map(({ field = "", message = "" }) => ({ field, manager: managerIn(message) })),
  );
}

/**
 * The same failure without words that may quote what was sent: a refused Secret is described with its values.
 */
export function withoutValues(error: KubeError, request: string): KubeError {
  if (error instanceof KubeConflict) return error;
  const { status, reason, details } = error;
  const fields = (details.causes ?? []).map(({ field }) => field).filter((field) => field !== undefined);
  const message = `${request} was refused (${[reason, ...fields].join(", ")}).`;
  const causes = fields.map((field) => ({ field }));
  return new KubeError({ status, reason, message, details: { ...details, causes } });
}

/** Kubernetes names the manager only in prose: `conflict with "kubectl-edit" using apps/v1 at 2026-01-02T03:04:05Z`. */
function managerIn(message: string): string {
  return /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? "unknown";
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A client error that a retry will not change, unlike a conflict, throttling, a server error or no answer at all. */
export const isPermanent = ({ status }: KubeError): boolean =>
  status >= 400 && status < 500 && status !== 409 && status !== 429;

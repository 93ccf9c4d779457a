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

  constructor(code: number, reason: string, message: string, details?: FaultDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

import type { ConflictCode, Suspension } from "@binnacle/contract";
import { codedConflict } from "../fault.ts";

/** An app, a project and a cluster each have these columns. */
export interface SuspensionColumns {
  readonly suspended_at: Date | null;
  readonly suspended_by: string | null;
  readonly suspended_reason: string | null;
}

/** With what the operator has last reported; null before it has. */
export interface ReportedSuspension extends SuspensionColumns {
  readonly suspension_reported: boolean | null;
}

/** The suspension of a project or else of its cluster, as PostgreSQL writes it. It holds for all that is in the project. */
export interface SurroundingSuspension {
  readonly scope: "project" | "cluster";
  readonly at: string;
  readonly by: string | null;
  readonly reason: string | null;
  readonly reported: boolean | null;
}

/** What decides whether the operator touches a project. It is read with the project, and with what is in it. */
export interface Holding {
  /** Whether the operator knows of suspensions; null where it has not said. */
  readonly operator_suspends?: boolean | null;
  readonly surrounding_suspension?: SurroundingSuspension | null;
}

const NONE: SuspensionColumns = { suspended_at: null, suspended_by: null, suspended_reason: null };
export const NOT_SUSPENDED: ReportedSuspension = { ...NONE, suspension_reported: null };

/** Of a project that was never suspended. */
export const NEVER_SUSPENDED = { ...NOT_SUSPENDED, suspension_ended_at: null };

/** Null where it is suspended already: who, when and why stay those of the first time. */
export const suspendedColumns = (
  { suspended_at }: Pick<SuspensionColumns, "suspended_at">,
  { by, reason }: { readonly by: string; readonly reason: string | null },
  now: Date,
): SuspensionColumns | null =>
  suspended_at === null ? { suspended_at: now, suspended_by: by, suspended_reason: reason } : null;

/** Null where it is not suspended. */
export const unsuspendedColumns = ({
  suspended_at,
}: Pick<SuspensionColumns, "suspended_at">): SuspensionColumns | null => (suspended_at === null ? null : NONE);

/** What the operator reports counts. Before it has, one that does not know of suspensions is known by its hello. */
export function shownSuspension(
  scope: Suspension["scope"],
  own: ReportedSuspension,
  { operator_suspends, surrounding_suspension: around }: Holding,
): Suspension | null {
  const stateOf = (reported: boolean | null): Suspension["state"] =>
    reported === false || operator_suspends === false ? "not_in_effect" : reported ? "in_effect" : "pending";
  if (own.suspended_at !== null) {
    const { suspended_by: by, suspended_at: at, suspended_reason: reason, suspension_reported } = own;
    return { scope, by, at: at.toISOString(), reason, state: stateOf(suspension_reported) };
  }
  if (!around) return null;
  const { at, by, reason, reported } = around;
  return { scope: around.scope, by, at: new Date(at).toISOString(), reason, state: stateOf(reported) };
}

const CODES = {
  app: "app_suspended",
  project: "project_suspended",
  cluster: "cluster_suspended",
} as const satisfies Record<Suspension["scope"], ConflictCode>;

/** Throws the 409 where something is to be deleted that is suspended itself, or is in something that is. */
export function refuseSuspended(
  { name, ...own }: Pick<SuspensionColumns, "suspended_at"> & { readonly name: string },
  { surrounding_suspension: around }: Holding,
  scope: Suspension["scope"] = "app",
): void {
  if (own.suspended_at !== null)
    throw codedConflict(CODES[scope], `The ${scope} ${name} is suspended. Unsuspend it before it is deleted.`, {
      name,
    });
  if (!around) return;
  const { scope: held } = around;
  throw codedConflict(CODES[held], `Its ${held} is suspended. Unsuspend the ${held} before ${name} is deleted.`, {
    name,
  });
}

import type { Project } from "@binnacle/client";
import { gone } from "./app-outcome.ts";
import { type Call, type Given, send } from "./command.ts";
import { EXIT, type ExitCode } from "./host.ts";
import { type End, type Started, settled } from "./outcome.ts";
import type { View } from "./output.ts";

/** Why a project does not become ready by itself. The operator tries `apply_failed` again, so it is waited for. */
const LASTING = new Set(["namespace_conflict", "operator_unreachable"]);

/** Waits until the cluster has confirmed a project, unless told not to. */
export function projectWaited(
  call: Call,
  { id, name }: Project,
  options: Given["options"],
  view: View<Project>,
): Promise<ExitCode | undefined> {
  const started: Started<Project> = {
    notYet: `${name} is not ready yet`,
    comeBack: `binnacle projects wait ${name}`,
    goesOn: `${name} is still being created.`,
    observe: () => send(call, "getProject", { id }),
    lines: (seen) => [{ mark: "·", tone: "warn", text: `${name}  ${stateOf(seen)}` }],
    end(seen) {
      if (seen.lifecycle === "ready") return { done: `${name} is ready.` };
      const { lifecycle_reason: reason, lifecycle_message: message } = seen;
      if (seen.lifecycle !== "degraded" || reason === null || !LASTING.has(reason)) return null;
      return {
        cause: `${name}: ${message ?? reason}`,
        exitCode: reason === "operator_unreachable" ? EXIT.unreachable : EXIT.failed,
        fix: `binnacle explain ${reason}`,
      };
    },
  };
  return settled(call, options, started, (seen) => call.show(view, seen));
}

const stateOf = ({ lifecycle, lifecycle_reason: reason, lifecycle_message: message }: Project): string =>
  [lifecycle === "pending" ? "waiting for the cluster" : lifecycle, message ?? reason].filter(Boolean).join("  ");

export const projectGone = (call: Call, id: string, name: string, options: Given["options"]) =>
  gone(
    call,
    options,
    {
      name,
      comeBack: `binnacle projects show ${name}`,
      read: () => send(call, "getProject", { id }),
      phaseOf: stateOf,
    },
    neverGone,
  );

/** Nobody confirms a deletion on a cluster that was abandoned. */
const neverGone = ({ lifecycle, lifecycle_message, name }: Project): End | null =>
  lifecycle === "cleanup_degraded"
    ? {
        cause: lifecycle_message ?? `The cluster of ${name} was abandoned, so nobody confirms that it is gone.`,
        exitCode: EXIT.unreachable,
        fix: "binnacle clusters delete <cluster>, which removes its record and its projects",
      }
    : null;

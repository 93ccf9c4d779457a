import type { ProjectLifecycle, Reason } from "@binnacle/contract";
import type { App, Deployment } from "./app.ts";

/** The outcome of a deployment, by its generation. */
export interface DeploymentOutcome {
  readonly generation: number;
  readonly status: "succeeded" | "failed";
  /** Null leaves the stored message. */
  readonly message: string | null;
}

/** Reasons of an operator that only another change of the app resolves: Kubernetes will never accept the object. */
const FINAL_REASONS: ReadonlySet<string> = new Set<Reason>(["ImmutableField", "ObjectRefused", "VolumeNotExpandable"]);

/**
 * Returns how a report on the current generation ends its deployment; null where it does not. An app that still serves
 * an earlier generation is degraded rather than failed, so there the reason decides whether the refusal is final.
 */
export function outcomeOf({ phase, phase_reason, phase_message }: App, generation: number): DeploymentOutcome | null {
  switch (phase) {
    case "running":
    case "paused":
      return { generation, status: "succeeded", message: null };
    case "failed":
    case "invalid":
      return { generation, status: "failed", message: phase_message ?? phase_reason };
    case "degraded":
      return FINAL_REASONS.has(phase_reason ?? "")
        ? { generation, status: "failed", message: phase_message ?? phase_reason }
        : null;
    case "pending":
    case "deploying":
    case "deleting":
      return null;
  }
}

/** What is known about a deployment whose deadline has passed. */
export interface OverdueFacts {
  readonly app: Pick<App, "observed_generation" | "phase_reason" | "phase_message">;
  readonly deployment: Pick<Deployment, "generation">;
  readonly isConnected: boolean;
  readonly project: {
    readonly lifecycle: ProjectLifecycle;
    readonly lifecycle_message: string | null;
  };
}

/** The sentence that says why a deployment has not ended in time: the cause that the cluster reported, if it did. */
export function overdueMessage(facts: OverdueFacts): string {
  return `The app was not running in time: ${causeOf(facts)}`;
}

function causeOf({ app, deployment, isConnected, project }: OverdueFacts): string {
  const isReported = app.observed_generation === deployment.generation;
  if (isReported) return app.phase_message ?? app.phase_reason ?? "the cluster has not reported why.";
  if (!isConnected) return "the operator of the cluster is not connected.";
  if (project.lifecycle === "degraded" && project.lifecycle_message !== null) return project.lifecycle_message;
  return "the cluster has not reported on the change.";
}

import type { Client } from "./client.ts";
import { type Clock, linked, sleep } from "./clock.ts";
import { TimedOut } from "./errors.ts";
import type { App, Deployment } from "./generated/types.ts";

/** An app as operations return it; what is waited for is its revision. */
export type Deployed = Pick<App, "namespace" | "name" | "project_id" | "revision">;

export interface WaitOptions {
  /** 10 minutes unless given. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called with what is there at each look. */
  readonly onProgress?: (app: App, deployment: Deployment) => void;
  /** For tests. */
  readonly clock?: Clock;
}

/** A deployment that has ended without success: it failed, or a newer one has taken its place. */
export class DeploymentFailed extends Error {
  override readonly name = "DeploymentFailed";
  readonly app: App;
  readonly deployment: Deployment;

  constructor(app: App, deployment: Deployment) {
    const { namespace, name, revision } = app;
    const cause =
      deployment.status === "superseded"
        ? `revision ${revision} is newer.`
        : (deployment.message ?? app.phase_message ?? "The cluster has not said why.");
    const end = deployment.status === "superseded" ? "was replaced" : "has failed";
    super(`Revision ${deployment.revision} of ${namespace}/${name} ${end}: ${cause}`);
    this.app = app;
    this.deployment = deployment;
  }
}

const LOOK_EVERY_MS = 1_000;

/** Waits until the revision of an app runs, and returns the app. Throws `DeploymentFailed`, or `TimedOut` where the time has passed. */
export async function waitForRevision(
  client: Pick<Client, "call" | "pages">,
  clock: Clock,
  { namespace, name, project_id, revision }: Deployed,
  { timeoutMs = 600_000, signal, onProgress }: WaitOptions,
): Promise<App> {
  const address = { namespace, name, project_id };
  const endMs = clock.now() + timeoutMs;
  const { controller, unlink } = linked(signal);
  try {
    const deployment_id = await idOf(client, address, revision, controller.signal);
    for (;;) {
      const given = { signal: controller.signal };
      const deployment = await client.call("getDeployment", { ...address, deployment_id }, given);
      const app = await client.call("getApp", address, given);
      onProgress?.(app, deployment);
      if (deployment.status === "succeeded") return app;
      if (deployment.status !== "pending") throw new DeploymentFailed(app, deployment);
      if (clock.now() >= endMs)
        throw new TimedOut(`${namespace}/${name} does not run yet.`, { operation: "getDeployment" });
      await sleep(clock, Math.min(LOOK_EVERY_MS, endMs - clock.now()), controller.signal);
    }
  } finally {
    unlink();
  }
}

async function idOf(
  client: Pick<Client, "pages">,
  address: Omit<Deployed, "revision">,
  revision: number,
  signal: AbortSignal,
): Promise<string> {
  for await (const it of client.pages("listDeployments", address, { signal }))
    if (it.revision === revision) return it.deployment_id;
  throw new Error(`Revision ${revision} of ${address.namespace}/${address.name} is not on record any more.`);
}

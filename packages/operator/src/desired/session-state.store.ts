import { LinkSettings } from "@binnacle/contract";
import { Check } from "typebox/value";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { CONFIG_MAPS } from "../kube/resource-types.ts";
import type { DesiredStore } from "./desired-state.ts";
import { ownLabels } from "./ownership.ts";

export const SESSION_STATE_NAME = "binnacle-operator-memory";

const NO_SETTINGS: LinkSettings = { drift_policy: "heal" };

type Memory = Awaited<ReturnType<DesiredStore["memory"]>>;

export interface SessionStatePorts {
  readonly kube: Pick<KubeClient, "get" | "create" | "patch">;
  readonly clusterId: string;
  /** Where the operator itself lives. */
  readonly namespace: string;
}

/**
 * State that survives the operator between two sessions. It is stored by cluster id, so a Kubernetes that is registered
 * again does not reuse the revision of its earlier registration.
 */
export function createSessionStateStore({
  kube,
  clusterId,
  namespace,
}: SessionStatePorts): Pick<DesiredStore, "memory" | "remember"> {
  async function memory(): Promise<Memory> {
    const found = await kube.get(CONFIG_MAPS, SESSION_STATE_NAME, namespace);
    const kept = parsed((found?.["data"] as Record<string, string> | undefined)?.[clusterId]);
    const { revision, settings, isDetaching } = kept;
    return {
      revision: Number.isSafeInteger(revision) ? (revision as number) : null,
      settings: Check(LinkSettings, settings) ? settings : NO_SETTINGS,
      ...(isDetaching === true ? { isDetaching } : {}),
    };
  }

  /** Others may have theirs in the same object, so only our own entry is written. */
  async function write(text: string): Promise<void> {
    const data = { [clusterId]: text };
    const patched = kube.patch(CONFIG_MAPS, SESSION_STATE_NAME, namespace, { data }, { kind: "merge" });
    await patched.catch(async (error: unknown) => {
      if (!(error instanceof KubeError) || error.status !== 404) throw error;
      const metadata = { name: SESSION_STATE_NAME, namespace, labels: ownLabels(clusterId) };
      const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
      await kube.create(object);
    });
  }

  // Two writes at a time would each overwrite the change of the other.
  let last: Promise<unknown> = Promise.resolve();
  return {
    memory,
    remember(changes) {
      const next = last.then(async () => write(JSON.stringify({ ...(await memory()), ...changes })));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

function parsed(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

import { LinkSettings } from "@binnacle/contract";
import { Check } from "typebox/value";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { CONFIG_MAPS } from "../kube/resource-types.ts";
import type { DesiredStore } from "./desired-state.ts";
import { ownLabels } from "./ownership.ts";

export const MEMORY_NAME = "binnacle-operator-memory";

const NO_SETTINGS: LinkSettings = { drift_policy: "heal" };

type Memory = Awaited<ReturnType<DesiredStore["memory"]>>;

export interface MemoryPorts {
  readonly kube: Pick<KubeClient, "get" | "create" | "patch">;
  readonly clusterId: string;
  /** Where the operator itself lives. */
  readonly namespace: string;
}

/**
 * What the operator knows between two sessions with the hub. It is kept by cluster: a Kubernetes that is registered
 * anew does not take the revision of its earlier life for one of its new life.
 */
export function createMemory({ kube, clusterId, namespace }: MemoryPorts): Pick<DesiredStore, "memory" | "remember"> {
  async function memory(): Promise<Memory> {
    const found = await kube.get(CONFIG_MAPS, MEMORY_NAME, namespace);
    const kept = parsed((found?.["data"] as Record<string, string> | undefined)?.[clusterId]);
    const { revision, settings } = kept;
    return {
      revision: Number.isSafeInteger(revision) ? (revision as number) : null,
      settings: Check(LinkSettings, settings) ? settings : NO_SETTINGS,
    };
  }

  /** Others may have theirs in the same object, so only our own entry is written. */
  async function write(text: string): Promise<void> {
    const data = { [clusterId]: text };
    const patched = kube.patch(CONFIG_MAPS, MEMORY_NAME, namespace, { data }, { kind: "merge" });
    await patched.catch(async (error: unknown) => {
      if (!(error instanceof KubeError) || error.status !== 404) throw error;
      const metadata = { name: MEMORY_NAME, namespace, labels: ownLabels(clusterId) };
      const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
      await kube.create(object);
    });
  }

  // Two at a time would each write back what the other has changed.
  let last: Promise<unknown> = Promise.resolve();
  return {
    memory,
    remember(events) {
      const next = last.then(async () => write(JSON.stringify({ ...(await memory()), ...events })));
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

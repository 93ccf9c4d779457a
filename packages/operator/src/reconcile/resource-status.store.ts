import type { StoredKind } from "../desired/stored-kind.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { type Verdict, verdictOf } from "./conditions.ts";
import { isSameStatus, type Observed, statusAfter } from "./resource-status.ts";
import { type EventAllowance, fullAllowance, isTransition, takeEvent, transitionEvent } from "./transition-event.ts";

interface Ports {
  readonly kube: Pick<KubeClient, "patchStatus" | "create">;
  readonly log: InformerLog;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
}

/** Writes what runs have found out into the status of custom resources, and an event about each change of phase or reason. */
export function createResourceStatus({ kube, log, nowMs }: Ports, { holder: type }: Pick<StoredKind, "holder">) {
  const allowances = new Map<string, EventAllowance>();
  let written = 0;
  let isForbidden = false;

  /** An event is for people: where it cannot be written, nothing else waits for it. */
  async function recordEvent(key: string, about: KubeObject, verdict: Verdict): Promise<void> {
    const now = nowMs();
    const { isAllowed, ...allowance } = takeEvent(allowances.get(key) ?? fullAllowance(now), now);
    const leftOut = allowances.get(key)?.leftOut ?? 0;
    allowances.set(key, allowance);
    if (!isAllowed) return;
    written += 1;
    const id = `${now.toString(16)}-${written.toString(16)}`;
    try {
      await kube.create(transitionEvent(about, verdict, { id, leftOut, nowMs: now }));
      isForbidden = false;
    } catch (err) {
      if (isOfLeavingNamespace(err)) return;
      const isAgain = isForbidden;
      isForbidden = err instanceof KubeError && err.status === 403;
      if (!(isAgain && isForbidden))
        log.warn({ err, key }, "an event could not be written; the operator's chart has the right to");
    }
  }

  return {
    /** Returns the custom resource as it is then; null where nothing was written, because nothing has changed or it is gone. */
    async write(key: string, observed: Observed): Promise<KubeObject | null> {
      const { holder, report } = observed;
      const verdict = verdictOf(report);
      const status = statusAfter(observed, verdict, nowMs());
      if (isSameStatus(holder["status"], status)) return null;
      const { name, namespace } = holder.metadata;
      const after = await kube.patchStatus(type, name, namespace, status).catch(nullWhenGone);
      if (after !== null && isTransition(holder, verdict)) await recordEvent(key, after, verdict);
      return after;
    },
    forget: (key: string) => void allowances.delete(key),
  };
}

function nullWhenGone(error: unknown): null {
  if (error instanceof KubeError && error.status === 404) return null;
  throw error;
}

/** It takes nothing new, and is gone soon with everything in it. */
const isOfLeavingNamespace = (error: unknown): boolean =>
  error instanceof KubeError &&
  (error.status === 404 || (error.details.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating"));

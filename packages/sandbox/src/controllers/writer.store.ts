import { ApiFault } from "../api/fault.ts";
import type { KubeObject } from "../store/kube-object.ts";
import type { Store } from "../store/store.ts";
import type { Write } from "./control.ts";
import type { EventRecorder } from "./event-recorder.store.ts";
import type { StoreView } from "./view.store.ts";

/** Carries out what a step asks for, in its order. The first refusal ends it, and is thrown. */
export function carryOut(
  writes: readonly Write[],
  ports: { readonly store: Store; readonly view: StoreView; readonly recorder: EventRecorder },
  nowMs: number,
): void {
  for (const write of writes) carryOutOne(write, ports, nowMs);
}

function carryOutOne(write: Write, { store, view, recorder }: Parameters<typeof carryOut>[1], nowMs: number): void {
  switch (write.verb) {
    case "create":
      // Noted at once: the next step must not take what was just made for missing.
      view.note(write.resource, store.create(write.resource, write.object, managed(write)));
      return;
    case "patch": {
      const object = store.patch(write.resource, write.name, write.namespace, write.patch, managed(write));
      view.note(write.resource, object);
      return;
    }
    case "status":
      store.updateStatus(write.resource, unversioned(write.object), managed(write));
      return;
    case "scale":
      store.scale(write.resource, write.name, write.namespace ?? "", write.replicas);
      return;
    case "delete": {
      const { resource, name, namespace, uid, verb: _, ...options } = write;
      unlessChanged(() => store.delete(resource, name, namespace, { ...options, preconditions: { uid } }));
      return;
    }
    case "finalize":
      store.finalizeNamespace(write.namespace);
      return;
    case "event":
      unlessRefused(() => recorder.record(write.event, nowMs));
  }
}

const managed = ({ manager }: { readonly manager?: string }) => (manager === undefined ? {} : { manager });

/** An earlier write of the same step may have given the object a new version already. */
function unversioned(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Another object has the name now: what was to be deleted is gone. */
function unlessChanged(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApiFault) || (error.code !== 409 && error.code !== 404)) throw error;
  }
}

/** A namespace that is on its way out takes no more events, which is not a reason to leave work undone. */
function unlessRefused(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
  }
}

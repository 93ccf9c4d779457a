import type { ObservationRequest } from "@binnacle/contract";
import { Fault } from "../fault.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { auditedVolumes, type Outlook } from "./deletion-preview.ts";

/** A deletion does not wait for longer to learn what becomes of the volumes. */
const BEFORE_DELETION_MS = 3_000;

/** Part of a cluster that is to be deleted: the whole namespace unless an app or an addon instance is named. */
export interface Leaving {
  readonly clusterId: string;
  readonly namespace: string;
  readonly app?: string;
  readonly components?: readonly string[];
  readonly addonInstance?: string;
}

/** Asks the cluster what a deletion would do. A cluster that does not answer prevents nothing. */
export async function deletionOutlook(
  operators: Pick<OperatorRequests, "observe">,
  { clusterId, namespace, app, components, addonInstance }: Leaving,
  withinMs?: number,
): Promise<Outlook> {
  const request: ObservationRequest = {
    name: "deletion",
    namespace,
    app: app ?? null,
    components: components ? [...components] : null,
    addon_instance: addonInstance ?? null,
  };
  try {
    return await operators.observe(clusterId, request, withinMs);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** The volumes of a deletion that is about to begin, for its audit entry. */
export const volumesBefore = async (operators: Pick<OperatorRequests, "observe">, leaving: Leaving) =>
  auditedVolumes(await deletionOutlook(operators, leaving, BEFORE_DELETION_MS));

import { Fault } from "../fault.ts";

/** The way on which the operator of a cluster takes over the removal of an addon instance. */
export interface AddonRemoval {
  /**
   * Comes back once the operator has the removal on record in its cluster, so that it goes on with it whatever happens
   * to either side. Throws `operatorUnreachable` where no operator has said so: then nothing was decided.
   */
  handOver(removal: RemovedAddon): Promise<void>;
}

export interface RemovedAddon {
  readonly clusterId: string;
  readonly addonInstanceId: string;
  readonly key: string;
  /**
   * That of the deletion, which is stored only when this is done: an operator that is quicker than the store says of this
   * generation that the instance is gone, and said of an earlier one it would not end the deletion.
   */
  readonly generation: number;
}

export const operatorUnreachable = () =>
  new Fault("bad_gateway", "The operator of the cluster cannot be reached; the addon instance was not deleted.");

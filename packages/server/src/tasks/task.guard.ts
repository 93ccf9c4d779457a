import type { TaskKind, ValidationItem } from "@binnacle/contract";
import type { Cluster } from "../clusters/cluster.ts";
import { type Guard, type Input, onCluster, type SignedIn, signedIn } from "../http/guard.ts";
import { wellFormed } from "../http/well-formed.ts";

interface Body {
  readonly kind: TaskKind;
  readonly payload?: Readonly<Record<string, unknown>>;
}
type TaskInput = Input<unknown, unknown, Body>;

interface TaskMaker extends SignedIn {
  /** What the task is about, where it is about one. */
  readonly cluster: Cluster | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function clusterIdOf({ body: { payload } }: TaskInput): string {
  const id = payload?.["cluster_id"];
  return typeof id === "string" ? id : "";
}
const editor = onCluster<TaskInput>("editor", clusterIdOf);

/** Everybody may queue a task; one about a cluster needs an editor of it. */
const maker: Guard<TaskMaker, TaskInput> = {
  requirement: signedIn.requirement,
  async look(looking, input) {
    if (input.body.kind !== "resync_cluster") return { ...(await signedIn.look(looking, input)), cluster: null };
    const { caller, cluster } = await editor.look(looking, input);
    return { caller, cluster };
  },
};

function taskProblems(input: TaskInput): ValidationItem[] {
  if (input.body.kind !== "resync_cluster" || UUID.test(clusterIdOf(input))) return [];
  return [{ loc: ["body", "payload", "cluster_id"], msg: "Input should be the id of a cluster", type: "value_error" }];
}

export const taskMaker = wellFormed(taskProblems, maker);

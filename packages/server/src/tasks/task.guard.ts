import type { TaskKind } from "@binnacle/contract";
import type { Cluster } from "../clusters/cluster.ts";
import { type Guard, type Input, onCluster, type SignedIn, signedIn } from "../http/guard.ts";

interface Body {
  readonly kind: TaskKind;
  readonly payload?: Readonly<Record<string, unknown>>;
}
type TaskInput = Input<unknown, unknown, Body>;

interface TaskMaker extends SignedIn {
  /** What the task is about, where it is about one. */
  readonly cluster: Cluster | null;
}

function clusterIdOf({ body: { payload } }: TaskInput): string {
  const id = payload?.["cluster_id"];
  return typeof id === "string" ? id : "";
}
const editor = onCluster<TaskInput>("editor", clusterIdOf);

/** Everybody may queue a task; one about a cluster needs an editor of it. */
export const taskMaker: Guard<TaskMaker, TaskInput> = {
  requirement: signedIn.requirement,
  async authorize(request, input) {
    if (input.body.kind !== "resync_cluster") return { ...(await signedIn.authorize(request, input)), cluster: null };
    const { caller, cluster } = await editor.authorize(request, input);
    return { caller, cluster };
  },
};

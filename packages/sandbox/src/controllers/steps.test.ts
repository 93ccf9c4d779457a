import { describe, expect, test } from "vitest";
import type { KubeObject, ObjectDraft } from "../store/kube-object.ts";
import type { Outcome } from "./control.ts";
import { type CronJob, stepCronJob } from "./cron-job.ts";
import { type Deployment, stepDeployment } from "./deployment.ts";
import { stepOwned } from "./garbage.ts";
import { type Job, stepJob } from "./job.ts";
import { type Namespace, stepNamespace } from "./namespace.ts";
import { barePod, configMap, cronJob, deployment, job, namespace, replicaSet } from "./objects.fixture.ts";
import type { Pod } from "./pod.ts";
import { type ReplicaSet, stepReplicaSet } from "./replica-set.ts";
import { START_MS } from "./virtual-time.fixture.ts";
import { stepClaim, type VolumeClaim } from "./volume-claim.ts";
import { stampOf } from "./writes.ts";

/** An object as the store would give it out. */
function stored<T extends KubeObject>(draft: ObjectDraft, more: object = {}): T {
  const metadata = {
    uid: `uid-${draft.metadata.name}`,
    generation: 1,
    creationTimestamp: stampOf(START_MS),
    ...draft.metadata,
  };
  return { ...draft, metadata, ...more } as unknown as T;
}

/** What a step does, in words: `create pods`, `delete pods a`. */
const writesOf = ({ writes }: Outcome): string[] =>
  writes.flatMap((write) => {
    if (write.verb === "event") return [];
    if (write.verb === "create") return [`create ${write.resource}`];
    if (write.verb === "finalize") return [`finalize ${write.namespace}`];
    const name = write.verb === "status" ? write.object.metadata.name : write.name;
    return [`${write.verb} ${write.resource} ${name}`];
  });

const READY = [{ type: "Ready", status: "True", lastTransitionTime: stampOf(START_MS) }];
const pod = (name: string, phase: "Pending" | "Running" | "Succeeded" | "Failed", metadata: object = {}): Pod => {
  const draft = barePod(name);
  const conditions = phase === "Running" ? READY : [];
  return stored({ ...draft, metadata: { ...draft.metadata, ...metadata } }, { status: { phase, conditions } });
};
const LEAVING = { deletionTimestamp: stampOf(START_MS) };
const CREATED = "create pods";

describe("one step", () => {
  test.each([
    ["none", [], [CREATED, CREATED]],
    ["one", [pod("a", "Running")], [CREATED]],
    ["enough", [pod("a", "Running"), pod("b", "Pending")], []],
    ["too many", [pod("a", "Running"), pod("b", "Pending"), pod("c", "Running")], ["delete pods b"]],
    ["failed ones", [pod("a", "Running"), pod("b", "Failed")], [CREATED]],
    ["leaving ones", [pod("a", "Running"), pod("b", "Running", LEAVING)], [CREATED]],
  ])("[SC10] one step of a ReplicaSet that wants two pods and has %s corrects that", (_, pods, expected) => {
    const set = stored<ReplicaSet>(replicaSet("web", { replicas: 2 }));
    const done = writesOf(stepReplicaSet(set, pods, START_MS));
    expect(done.filter((one) => one !== "status replicasets.apps web")).toEqual(expected);
  });

  test("[SC10] one step of a Deployment creates a ReplicaSet without pods, and the next one scales it", () => {
    const web = stored<Deployment>(deployment("web", { replicas: 2 }));
    const first = stepDeployment(web, [], () => false, START_MS);
    expect(writesOf(first)).toEqual([
      "create replicasets.apps",
      "patch deployments.apps web",
      "status deployments.apps web",
    ]);
    const [creation] = first.writes;
    if (creation?.verb !== "create") throw new Error("The first write makes the replica set.");
    expect(creation.object["spec"]).toMatchObject({ replicas: 0 });
    const set = stored<ReplicaSet>(creation.object);
    const noted = { ...web, metadata: { ...web.metadata, annotations: { "deployment.kubernetes.io/revision": "1" } } };
    const second = stepDeployment(noted, [set], () => false, START_MS);
    expect(second.writes).toContainEqual(expect.objectContaining({ verb: "patch", patch: { spec: { replicas: 2 } } }));
  });

  test.each([
    ["a new one", {}, [], [CREATED, "status jobs.batch once"]],
    ["a suspended one", { suspend: true }, [pod("a", "Running")], ["delete pods a", "status jobs.batch once"]],
    ["one whose pod runs", {}, [pod("a", "Running")], ["status jobs.batch once"]],
    ["one whose pod is done", {}, [pod("a", "Succeeded")], ["status jobs.batch once"]],
    [
      "one without tries left",
      { backoffLimit: 0 },
      [pod("a", "Failed"), pod("b", "Running")],
      ["delete pods b", "status jobs.batch once"],
    ],
  ])("[SC30] [SC31] [SC32] one step of a Job does what is due: %s", (_, spec, pods, expected) => {
    expect(writesOf(stepJob(stored<Job>(job("once", spec)), pods, START_MS))).toEqual(expected);
  });

  test.each([
    ["before its time", 0, [], 1],
    ["at its time", 60_000, ["create jobs.batch", "status cronjobs.batch tick"], 2],
    ["long after its time", 30 * 60_000, ["create jobs.batch", "status cronjobs.batch tick"], 31],
  ])("[SC36] one step of a CronJob does what is due %s", (_, laterMs, expected, nextMinute) => {
    const cron = stored<CronJob>(cronJob("tick", { schedule: "* * * * *" }));
    const outcome = stepCronJob(cron, [], START_MS + laterMs);
    expect(writesOf(outcome)).toEqual(expected);
    expect(outcome.wakeAtMs).toBe(START_MS + nextMinute * 60_000);
  });

  test.each([
    ["live", "live", []],
    ["gone", "live", ["patch configmaps c"]],
    ["waiting", "live", ["patch configmaps c"]],
    ["gone", "gone", ["delete configmaps c"]],
    ["gone", "waiting", ["delete configmaps c"]],
  ] as const)("[SC40] [SC41] an object has one owner that is %s and one that is %s", (first, second, expected) => {
    const owner = (uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: uid, uid });
    const owned = stored<KubeObject>(configMap("c", { ownerReferences: [owner("a"), owner("b")] }));
    expect(writesOf(stepOwned("configmaps", owned, (uid) => (uid === "a" ? first : second)))).toEqual(expected);
  });

  test.each([
    ["nothing", [], ["finalize team"]],
    ["something", [configMap("a")], ["delete configmaps a"]],
    ["something that is leaving", [configMap("a", { ...LEAVING, finalizers: ["x/y"] })], ["status namespaces team"]],
  ])("[SC46] one step of a deleted namespace with %s in it does what is due", (_, content, expected) => {
    const draft = namespace("team");
    const team = stored<Namespace>({
      ...draft,
      metadata: { ...draft.metadata, ...LEAVING },
      spec: { finalizers: ["kubernetes"] },
    });
    const owned = content.map((one) => ({ resource: "configmaps", object: stored<KubeObject>(one) }));
    expect(writesOf(stepNamespace(team, owned, START_MS))).toEqual(expected);
  });

  test("[SC75] one step of a volume claim creates a volume and binds it, and the next one does nothing", () => {
    const metadata = { name: "data", namespace: "default" };
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const claim = stored<VolumeClaim>({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
    const storage = { ...stored<KubeObject>({ metadata: { name: "simulated" } }), provisioner: "simulated" };
    expect(writesOf(stepClaim(claim, storage, null))).toEqual([
      "create persistentvolumes",
      "status persistentvolumes pvc-uid-data",
      "patch persistentvolumeclaims data",
      "status persistentvolumeclaims data",
    ]);
    const bound = {
      ...claim,
      metadata: { ...claim.metadata, finalizers: ["kubernetes.io/pvc-protection"] },
      spec: { ...spec, volumeName: "pvc-uid-data" },
      status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } },
    };
    const volume = stored<KubeObject>({ metadata: { name: "pvc-uid-data" }, spec: { capacity: { storage: "1Gi" } } });
    expect(writesOf(stepClaim(bound, storage, volume))).toEqual([]);
  });
});

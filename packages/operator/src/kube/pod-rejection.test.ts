import { describe, expect, test } from "vitest";
import type { KubeObject } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { createRejections } from "./pod-rejection.store.ts";
import { rejected, rejectionIn } from "./pod-rejection.ts";
import { progressing, ready } from "./readiness.ts";

const event = (reason: string, message: string, at: string, fields: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: `web.${reason}.${at}`, creationTimestamp: "2026-01-31T09:00:00Z" },
  reason,
  message,
  lastTimestamp: at,
  ...fields,
});
const [EARLIER, LATER] = ["2026-01-31T09:30:00Z", "2026-01-31T09:31:00Z"];
const failed = (at: string) => event("FailedCreate", "refused", at);
const made = (at: string) => event("SuccessfulCreate", "created pod: web-0", at);

describe("the last event about a pod", () => {
  test.each<[string, readonly KubeObject[], string | null]>([
    ["tells nothing where there is none", [], null],
    ["tells why it was not made", [made(EARLIER), failed(LATER)], "refused"],
    ["tells that another one was made", [failed(EARLIER), made(LATER)], null],
    ["counts as a failure in the same second", [made(LATER), failed(LATER)], "refused"],
    ["is not any other", [failed(EARLIER), event("Killing", "Stopping container", LATER)], "refused"],
    [
      "is known by when it was last seen",
      [
        made(EARLIER),
        event("FailedCreate", "refused", "", { series: { lastObservedTime: LATER, count: 2 } }),
        event("FailedCreate", "once", "", { eventTime: "2026-01-31T08:00:00.000000Z" }),
      ],
      "refused",
    ],
  ])("[AO39] the last event about a pod %s", (_, events, words) => expect(rejectionIn(events)).toBe(words));
});

const object = (kind: string): KubeObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "web", namespace: "shop", uid: "u" },
});
const VIOLATION = 'pods "web-0" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "root")';
const EXCEEDED = 'pods "web-0" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2';
const UNSTATED = 'pods "web-0" is forbidden: failed quota: team: must specify limits.cpu for: web';
const DENIED = 'admission webhook "policy.example.com" denied the request: no latest';
const UNCOUNTED = 'pods "web-0" is forbidden: status unknown for quota: team, resources: pods';
const NO_ANSWER = 'Internal error occurred: failed calling webhook "policy.example.com": context deadline exceeded';

describe("a pod that is not taken", () => {
  test.each([
    ["violates the level", VIOLATION, "failed"],
    ["exceeds the quota", EXCEEDED, "failed"],
    ["does not say what the quota needs", UNSTATED, "failed"],
    ["is denied by a webhook", DENIED, "failed"],
    ["waits for the quota to be counted", UNCOUNTED, "progressing"],
    ["waits for a webhook", NO_ANSWER, "progressing"],
  ])("[AO39] a rejected pod is reported with the API server's words: it %s", (_, words, state) => {
    const message = `StatefulSet web cannot start pods: ${words}`;
    const expected = { state, reason: "PodRejected", message, readyReplicas: 1 };
    const said = [words, `Error creating: ${words}`, `create Pod web-0 in StatefulSet web failed error: ${words}`];
    for (const one of said) expect(rejected(object("StatefulSet"), one, 1)).toEqual(expected);
    expect(rejected(object("StatefulSet"), words, 0, true).state).toBe("failed");
  });
});

describe("events about a workload", () => {
  const asked: unknown[] = [];
  const cluster = (items: readonly KubeObject[] | KubeError) => ({
    async list<T extends KubeObject>(...question: unknown[]) {
      asked.push(question[1]);
      if (items instanceof KubeError) throw items;
      return { resourceVersion: "1", items: items as readonly T[] };
    },
  });
  const waits = progressing("it waits", 1);
  const withRejection = (...given: Parameters<ReturnType<typeof createRejections>["explain"]>) =>
    createRejections(() => 0).explain(...given);

  test("[AO39] events about a workload are read by its uid, and only where they may explain more", async () => {
    const events = [event("FailedCreate", VIOLATION, LATER)];
    for (const kind of ["StatefulSet", "DaemonSet", "Job"]) {
      expect(await withRejection(cluster(events), object(kind), waits)).toMatchObject({
        state: "failed",
        reason: "PodRejected",
        message: `${kind} web cannot start pods: ${VIOLATION}`,
      });
      expect(asked.splice(0)).toEqual([{ namespace: "shop", fieldSelector: "involvedObject.uid=u" }]);
    }
    expect(await withRejection(cluster(events), object("StatefulSet"), ready(1))).toEqual(ready(1));
    expect(await withRejection(cluster(events), object("Service"), waits)).toBe(waits);
    expect(asked).toEqual([]);
  });

  test("[AO39] events that may not be read leave the state of a workload unchanged", async () => {
    const refused = new KubeError({ status: 403, reason: "Forbidden", message: "events is forbidden" });
    expect(await withRejection(cluster(refused), object("Job"), waits)).toBe(waits);
    const lost = new KubeError({ status: 0, reason: "", message: "no answer" });
    await expect(withRejection(cluster(lost), object("Job"), waits)).rejects.toBe(lost);
  });

  test("[AO39] events about a workload that stays the same are read less and less often, and at once when it changes", async () => {
    let nowMs = 0;
    const { explain } = createRejections(() => nowMs);
    const refused = cluster([event("FailedCreate", VIOLATION, LATER)]);
    const looks = async (version: string) => {
      const set = object("StatefulSet");
      const seen = { ...set, metadata: { ...set.metadata, resourceVersion: version } };
      expect(await explain(refused, seen, waits)).toMatchObject({ reason: "PodRejected" });
      return asked.splice(0).length;
    };
    let reads = 0;
    for (nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) reads += await looks("1");
    expect(reads).toBeLessThan(70);
    expect(await looks("2")).toBe(1);
    expect(await looks("2")).toBe(0);
    nowMs += 5_000;
    expect(await looks("2")).toBe(1);
  });
});

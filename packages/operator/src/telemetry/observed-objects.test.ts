import { OBSERVED_LIMITS, ObservedAnswers } from "@binnacle/contract";
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { eventsOf, fitting, resourcesOf } from "./observed-objects.ts";
import { type OwnedObject, ownedObjects } from "./owned-objects.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const made = (kind: string, name: string, fields: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: kind === "Pod" ? "v1" : "apps/v1",
  kind,
  metadata: { name, namespace: "shop", uid: `uid-${name}`, creationTimestamp: "2026-01-31T09:00:00Z", ...metadata },
  ...fields,
});
const ownedBy = (uid: string) => ({ ownerReferences: [{ apiVersion: "v1", kind: "Any", name: "any", uid }] });
const owned = (object: KubeObject, others: readonly KubeObject[] = []): OwnedObject[] =>
  ownedObjects([{ component: "web", object, release: null }], others);
const at = new Date(NOW).toISOString();

describe("the tree of an app's objects", () => {
  const deployment = made("Deployment", "web", {
    spec: { replicas: 2 },
    status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
  });
  const replicaSet = (name: string, replicas: number) =>
    made("ReplicaSet", name, { spec: { replicas }, status: { replicas, readyReplicas: 1 } }, ownedBy("uid-web"));
  const crashed = { terminated: { exitCode: 1, reason: "Error", finishedAt: "2026-01-31T09:29:58Z" } };
  const pod = (name: string, isReady: boolean) =>
    made(
      "Pod",
      name,
      {
        spec: { nodeName: "node-1" },
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: isReady ? "True" : "False" }],
          containerStatuses: isReady
            ? [{ name: "main", ready: true, restartCount: 0, state: { running: {} } }]
            : [
                {
                  name: "main",
                  restartCount: 4,
                  state: { waiting: { reason: "CrashLoopBackOff" } },
                  lastState: crashed,
                },
              ],
        },
      },
      ownedBy("uid-web-2"),
    );

  test("[TE14] the tree of objects shows the state of each, pods in trouble first, without past revisions", () => {
    const all = owned(deployment, [
      replicaSet("web-1", 0),
      replicaSet("web-2", 2),
      pod("web-2-a", true),
      pod("web-2-b", false),
    ]);
    const { objects, truncated } = resourcesOf(all, [], NOW);
    expect(truncated).toBe(false);
    expect(
      objects.map(({ name, status, desired, ready, restarts }) => [name, status, desired, ready, restarts]),
    ).toEqual([
      ["web", "progressing", 2, 1, null],
      ["web-2", "progressing", 2, 1, null],
      ["web-2-b", "failed", null, null, 4],
      ["web-2-a", "ready", null, null, 0],
    ]);
    expect(objects[2]).toMatchObject({ reason: "CrashLoopBackOff", node: "node-1", parent_id: "uid-web-2" });
    expect(Compile(ObservedAnswers.resources).Check({ objects, truncated, observed_at: at })).toBe(true);
  });

  test("[TE14] the tree of objects names what should be there and is not, and what is being deleted", () => {
    const leaving = made("Service", "web", {}, { deletionTimestamp: "2026-01-31T09:29:00Z" });
    const missing = { component: "web", apiVersion: "v1", kind: "ConfigMap", name: "web-env", namespace: "shop" };
    const { objects } = resourcesOf(owned(leaving), [missing], NOW);
    expect(objects.map(({ kind, status }) => [kind, status])).toEqual([
      ["ConfigMap", "missing"],
      ["Service", "deleting"],
    ]);
  });

  test("[TE17] the tree of objects is cut at the bottom, so that no object is without its parent", () => {
    const pods = Array.from({ length: OBSERVED_LIMITS.objects + 50 }, (_, nth) => pod(`web-2-${nth}`, true));
    const { objects, truncated } = resourcesOf(owned(deployment, [replicaSet("web-2", 2), ...pods]), [], NOW);
    const ids = new Set(objects.map(({ id }) => id));
    expect([objects.length, truncated]).toEqual([OBSERVED_LIMITS.objects, true]);
    expect(objects.filter(({ parent_id }) => parent_id !== null && !ids.has(parent_id))).toEqual([]);
  });

  test("[TE17] every list of objects stays below the given size and number", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 })), fc.nat(20), fc.nat(300), (items, most, bytes) => {
        const { kept, truncated } = fitting(items, most, bytes);
        expect(items.slice(0, kept.length)).toEqual(kept);
        expect(truncated).toBe(kept.length < items.length);
        expect(kept.length <= most && Buffer.byteLength(JSON.stringify(kept)) <= Math.max(bytes, 1) + 2).toBe(true);
      }),
    );
  });
});

describe("events", () => {
  const about = (uid: string, fields: object): KubeObject => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `e-${uid}`, namespace: "shop", creationTimestamp: "2026-01-31T09:10:00Z" },
    involvedObject: { uid, name: "web", kind: "Deployment" },
    ...fields,
  });
  const mine = owned(made("Deployment", "web"));

  test("[TE16] the events of an app are those about its objects by uid, the latest first, whichever way they count", () => {
    const old = { type: "Normal", reason: "ScalingReplicaSet", message: "Scaled up.", count: 3 };
    const times = { firstTimestamp: "2026-01-31T09:01:00Z", lastTimestamp: "2026-01-31T09:05:00Z" };
    const series = { count: 7, lastObservedTime: "2026-01-31T09:20:00.123456Z" };
    const { events, truncated } = eventsOf(mine, [
      about("uid-web", { ...old, ...times }),
      about("uid-web", {
        type: "Warning",
        reason: "Odd",
        message: "It is.",
        eventTime: "2026-01-31T09:02:00Z",
        series,
      }),
      about("uid-web", {}),
      about("uid-of-an-earlier-web", { ...old, message: "Of one that had the name before." }),
      about("", { message: "About nothing." }),
    ]);
    expect(
      events.map(({ reason, count, first_seen_at, last_seen_at }) => [reason, count, first_seen_at, last_seen_at]),
    ).toEqual([
      ["Odd", 7, "2026-01-31T09:02:00.000Z", "2026-01-31T09:20:00.123Z"],
      ["", 1, "2026-01-31T09:10:00.000Z", "2026-01-31T09:10:00.000Z"],
      ["ScalingReplicaSet", 3, "2026-01-31T09:01:00.000Z", "2026-01-31T09:05:00.000Z"],
    ]);
    expect(events[0]?.object).toEqual({ kind: "Deployment", name: "web", component: "web" });
    expect(Compile(ObservedAnswers.events).Check({ events, truncated, observed_at: at })).toBe(true);
  });

  test("[TE16] events are masked, shortened and valid for the hub, whatever somebody has written", () => {
    const hostile = fc.record({
      type: fc.jsonValue(),
      reason: fc.jsonValue(),
      message: fc.oneof(fc.jsonValue(), fc.constant(`postgres://app:secret@db ${"x".repeat(5_000)}<script>`)),
      count: fc.oneof(fc.integer(), fc.jsonValue()),
      firstTimestamp: fc.jsonValue(),
      lastTimestamp: fc.jsonValue(),
      series: fc.jsonValue(),
    });
    const valid = Compile(ObservedAnswers.events);
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 5 }), (written) => {
        const answer = {
          ...eventsOf(
            mine,
            written.map((fields) => about("uid-web", fields)),
          ),
          observed_at: at,
        };
        const sent = JSON.parse(JSON.stringify(answer));
        expect(valid.Check(sent)).toBe(true);
        expect(JSON.stringify(sent)).not.toMatch(/app:secret@|<script>/);
      }),
    );
  });

  test("[TE17] at most 200 events are returned, and the answer says that there are more", () => {
    const many = Array.from({ length: 250 }, () => about("uid-web", { message: "m" }));
    const { events, truncated } = eventsOf(mine, many);
    expect([events.length, truncated]).toEqual([OBSERVED_LIMITS.events, true]);
  });
});

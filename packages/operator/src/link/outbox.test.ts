import { randomUUID } from "node:crypto";
import type { AppReport, ComponentStatus, ProjectReport } from "@binnacle/contract";
import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createStatusOutbox, type StatusOutbox } from "./outbox.ts";

let outbox: StatusOutbox;
beforeEach(() => {
  outbox = createStatusOutbox(randomUUID);
});

const RESOURCE = randomUUID();
const ready: ProjectReport = { state: "ready", message: null };
const failed: ProjectReport = { state: "apply_failed", message: "No room." };

function report(name: string, seen: ProjectReport | { state: "gone" }, generation = 1): void {
  outbox.report("project", { key: `project/${name}`, resource_id: RESOURCE, generation }, seen);
}

function drain() {
  const frames = [];
  for (let frame = outbox.next(); frame; frame = outbox.next()) frames.push(frame);
  return frames;
}

describe("the outbox of reports", () => {
  test("[OL30] the outbox sends the newest report of each key", () => {
    report("a", failed);
    report("b", ready);
    report("a", ready, 2);
    expect(drain()).toEqual([
      { type: "status", id: expect.any(String), key: "project/a", resource_id: RESOURCE, generation: 2, report: ready },
      { type: "status", id: expect.any(String), key: "project/b", resource_id: RESOURCE, generation: 1, report: ready },
    ]);
    expect(outbox.next()).toBeNull();
  });

  test("[OL30] after a reconnect the outbox sends again what the hub has not recorded, and only that", () => {
    report("a", ready);
    report("b", ready);
    const [a] = drain();
    outbox.confirmed([a?.id ?? ""]);
    outbox.lost();
    expect(drain().map(({ key }) => key)).toEqual(["project/b"]);
  });

  test("[OL30] the record of an older frame does not count as the record of a newer report", () => {
    report("a", failed);
    const [first] = drain();
    report("a", ready);
    const [second] = drain();
    outbox.confirmed([first?.id ?? ""]);
    outbox.lost();
    expect(drain()).toMatchObject([{ report: ready }]);
    outbox.confirmed([second?.id ?? ""]);
    outbox.lost();
    expect(drain()).toHaveLength(1);
  });

  test("[OL31] the outbox does not send an equal report again, whether confirmed or not", () => {
    report("a", { ...ready });
    report("a", { message: null, state: "ready" });
    const frames = drain();
    expect(frames).toHaveLength(1);
    report("a", ready);
    outbox.confirmed(frames.map(({ id }) => id));
    report("a", ready);
    expect(drain()).toEqual([]);
    report("a", ready, 2);
    expect(drain()).toHaveLength(1);
  });

  const app = (facts: Partial<AppReport> = {}): AppReport => ({
    phase: "degraded",
    phase_since: "2026-01-01T00:00:00.000Z",
    reason: "NoReplicas",
    message: null,
    components: [],
    components_status: [component({})],
    drift: { state: "drifted", summary: null, fields: [], detected_at: "2026-01-01T00:00:00.000Z" },
    ...facts,
  });
  const component = (facts: Partial<ComponentStatus>, started_at = "2026-01-01T00:00:00.000Z"): ComponentStatus => ({
    name: "web",
    phase: "degraded",
    reason: null,
    message: null,
    desired: 1,
    ready: 0,
    updated: 0,
    restarts: 0,
    image: null,
    pods: [{ name: "web-1", phase: "Running", reason: null, restarts: 0, node: null, started_at }],
    ...facts,
  });

  test.each<[string, Partial<AppReport>, number]>([
    ["begun at another time", { phase_since: "2026-02-02T00:00:00.000Z" }, 0],
    [
      "found at another time",
      { drift: { state: "drifted", summary: null, fields: [], detected_at: "2026-02-02T00:00:00.000Z" } },
      0,
    ],
    ["with a pod of another time", { components_status: [component({}, "2026-02-02T00:00:00.000Z")] }, 0],
    ["with another restart", { components_status: [component({ restarts: 1 })] }, 1],
    ["with another reason", { reason: "WorkloadMissing" }, 1],
  ])("[OL31] the outbox sends the same report %s only where more than times have changed", (_, changes, sent) => {
    const subject = { key: "app/shop/web", resource_id: RESOURCE, generation: 1 };
    outbox.report("app", subject, app());
    expect(drain()).toMatchObject([{ report: { phase_since: "2026-01-01T00:00:00.000Z" } }]);
    outbox.report("app", subject, app(changes));
    expect(drain()).toHaveLength(sent);
  });

  test("[OL33] messages about components are masked and escaped before they are sent", () => {
    const message = "<b> postgres://app:hunter2@db";
    outbox.report(
      "app",
      { key: "app/shop/web", resource_id: RESOURCE, generation: 1 },
      app({ components_status: [component({ message })] }),
    );
    const [frame] = drain();
    expect(JSON.stringify(frame)).not.toMatch(/hunter2|<b>/);
  });

  test("[OL31] the outbox reports a resource again that takes the key of one that is gone", () => {
    report("a", { state: "gone" });
    outbox.confirmed(drain().map(({ id }) => id));
    report("a", { state: "gone" });
    expect(drain()).toHaveLength(1);
  });

  test("[OL24] after a resync the outbox sends everything again, and forgets what is gone", () => {
    report("a", ready);
    report("b", { state: "gone" });
    outbox.confirmed(drain().map(({ id }) => id));
    outbox.resync();
    expect(drain().map(({ key }) => key)).toEqual(["project/a"]);
  });

  test("[OL32] the outbox has no more than 256 reports on their way", () => {
    for (let i = 0; i < 300; i += 1) report(`p${i}`, ready);
    const frames = drain();
    expect(frames).toHaveLength(256);
    outbox.onDue = vi.fn();
    outbox.confirmed(frames.slice(0, 40).map(({ id }) => id));
    expect(outbox.onDue).toHaveBeenCalled();
    expect(drain()).toHaveLength(40);
  });

  test("[OL33] messages of reports are masked and escaped before they are sent", () => {
    report("a", { state: "apply_failed", message: "<b>postgres://app:hush@db/x</b>" });
    const drift = { state: "drifted" as const, summary: "<i>x", fields: [], detected_at: null };
    const app = { phase: "degraded" as const, reason: null, message: null, components: [], drift };
    outbox.report("app", { key: "app/a/b", resource_id: RESOURCE, generation: 1 }, app);
    const [project, second] = drain();
    expect(project?.report).toMatchObject({ message: "‹b>[masked]db/x‹/b>" });
    expect(second?.report).toMatchObject({ drift: { summary: "‹i>x", state: "drifted" } });
  });

  test("[OL30] the hub ends with the last report of each key, however connections and records come", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("report" as const), key: fc.constantFrom("a", "b", "c"), generation: fc.nat(5) }),
      fc.record({ do: fc.constant("send" as const), isConfirmed: fc.boolean() }),
      fc.record({ do: fc.constant("lose" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        outbox = createStatusOutbox(randomUUID);
        const wanted = new Map<string, number>();
        const onRecord = new Map<string, number>();
        const send = (isConfirmed: boolean) => {
          const frame = outbox.next();
          if (!frame) return false;
          if (isConfirmed) {
            onRecord.set(frame.key, frame.generation);
            outbox.confirmed([frame.id]);
          }
          return true;
        };
        for (const taken of steps) {
          if (taken.do === "report") {
            report(taken.key, ready, taken.generation);
            wanted.set(`project/${taken.key}`, taken.generation);
          } else if (taken.do === "send") send(taken.isConfirmed);
          else outbox.lost();
        }
        outbox.lost();
        while (send(true));
        expect(onRecord).toEqual(wanted);
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { auditRow } from "../audit/audit.ts";
import { activityOf, isEvent } from "./event.ts";
import { anyEvent, eventOf } from "./events.fixture.ts";

test("[EV10] every event is recognized after a round trip through JSON", () => {
  fc.assert(fc.property(anyEvent, (event) => isEvent(JSON.parse(JSON.stringify(event)))));
});

test("[EV10] no other JSON value is recognized as an event", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => !isEvent(value)));
});

test.each([
  { type: "unheard-of" },
  { org_id: 1 },
  { cluster_id: null },
  { project_id: ["project-1"] },
  { resource: null },
  { resource: {} },
  { time: 0 },
  { id: null },
])("[EV10] an event with %j is not recognized", (facts) => {
  expect(isEvent({ ...eventOf(), ...facts })).toBe(false);
});

const circumstances = {
  actor: { id: "ann", email: "ann@example.com", via: "user" },
  sourceAddress: "203.0.113.7",
  requestId: "request-1",
} as const;
const AT = new Date("2030-01-01T00:00:00Z");

const rowOf = (type: string, id: string | null = "thing-1", action = `${type}.update`) =>
  auditRow(
    { action, resource: { type, id, name: "thing" }, orgId: "org-1", changes: { name: "thing" } },
    circumstances,
    "entry-1",
    AT,
  );

describe("an activity", () => {
  test("[EV5] an activity has the fields of its audit entry", () => {
    expect(activityOf(rowOf("org"), null)).toEqual({
      id: "entry-1",
      type: "activity",
      time: "2030-01-01T00:00:00.000Z",
      at: "2030-01-01T00:00:00.000Z",
      org_id: "org-1",
      actor: { id: "ann", email: "ann@example.com" },
      via: "user",
      source_address: "203.0.113.7",
      action: "org.update",
      resource: { type: "org", id: "thing-1", name: "thing" },
      changes: { name: "thing" },
      summary: null,
      request_id: "request-1",
    });
  });

  test("[EV14] an activity has the place where the change was made", () => {
    expect(activityOf(rowOf("cluster"), { clusterId: "c" })).toMatchObject({ cluster_id: "c" });
    expect(activityOf(rowOf("cluster"), { clusterId: "c" })).not.toHaveProperty("project_id");
    const place = { clusterId: "c", projectId: "p" };
    expect(activityOf(rowOf("app"), place)).toMatchObject({ cluster_id: "c", project_id: "p", workload_id: "thing-1" });
  });

  test("[EV14] an activity about a cluster or project has that one as its place, wherever it was created", () => {
    expect(activityOf(rowOf("project"), { clusterId: "c" })).toMatchObject({ cluster_id: "c", project_id: "thing-1" });
    expect(activityOf(rowOf("cluster"), null)).toMatchObject({ cluster_id: "thing-1" });
  });
});

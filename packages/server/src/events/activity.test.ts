import { describe, expect, test } from "vitest";
import { auditRow } from "../audit/audit.ts";
import { concernedBy } from "./access-hint.ts";
import { activityOf } from "./activity.ts";
import { eventOf } from "./events.fixture.ts";

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
  test("[EV5] says what the audit entry says", () => {
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
      request_id: "request-1",
    });
  });

  test("[EV14] is about the place where the change was made", () => {
    expect(activityOf(rowOf("cluster"), { clusterId: "c" })).toMatchObject({ cluster_id: "c" });
    expect(activityOf(rowOf("cluster"), { clusterId: "c" })).not.toHaveProperty("project_id");
    const place = { clusterId: "c", projectId: "p" };
    expect(activityOf(rowOf("app"), place)).toMatchObject({ cluster_id: "c", project_id: "p", workload_id: "thing-1" });
  });

  test("[EV14] of a cluster or a project is its own, whatever its making was asked of", () => {
    expect(activityOf(rowOf("project"), { clusterId: "c" })).toMatchObject({ cluster_id: "c", project_id: "thing-1" });
    expect(activityOf(rowOf("cluster"), null)).toMatchObject({ cluster_id: "thing-1" });
  });
});

describe("what casts doubt on somebody's access", () => {
  const said = (action: string, type: string) =>
    concernedBy(eventOf({ ...activityOf(rowOf(type, "x", action), null) }));

  test.each([
    ["session.end", "session", { sessionId: "x" }],
    ["user.update", "user", { userId: "x" }],
    ["user.delete", "user", { userId: "x" }],
    ["member.remove", "member", { userId: "x" }],
    ["member.change_role", "member", { userId: "x" }],
    ["cluster.grant_role", "cluster", "anybody"],
    ["role_binding.create", "role_binding", "anybody"],
    ["project.revoke_role", "project", "anybody"],
  ])("[EV18] [EV19] %s of a %s concerns %j", (action, type, concerned) => {
    expect(said(action, type)).toEqual(concerned);
  });

  test.each([
    ["session.create", "session"],
    ["user.create", "user"],
    ["app.update", "app"],
    ["cluster.create", "cluster"],
  ])("[EV18] %s of a %s concerns nobody", (action, type) => {
    expect(said(action, type)).toBeNull();
  });

  test("[EV18] is an activity and nothing else", () => {
    expect(concernedBy(eventOf({ type: "app", action: "role_binding.delete" }))).toBeNull();
  });
});

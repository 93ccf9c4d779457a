import { describe, expect, test } from "vitest";
import { type AuditContext, auditRow, type ChangeRecord, wireAuditEntry } from "./audit.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const AT = new Date("2030-01-01T00:00:00Z");

const circumstances: AuditContext = {
  actor: { id: "ann", email: "ann@example.com", via: "cli_token" },
  sourceAddress: "203.0.113.7",
  requestId: "request-1",
};
const record: ChangeRecord = {
  action: "org.update",
  resource: { type: "org", id: "org-1", name: "Demo" },
  orgId: "org-1",
  changes: { name: "Demo" },
};

describe("an audit entry", () => {
  test("[AL1] an audit entry has actor, credential, source address, action, resource, time and request", () => {
    expect(wireAuditEntry(auditRow(record, circumstances, ID, AT))).toEqual({
      id: ID,
      at: "2030-01-01T00:00:00.000Z",
      actor: { id: "ann", email: "ann@example.com" },
      via: "cli_token",
      source_address: "203.0.113.7",
      action: "org.update",
      resource: { type: "org", id: "org-1", name: "Demo" },
      changes: { name: "Demo" },
      summary: null,
      request_id: "request-1",
    });
  });

  const described = (more: Partial<ChangeRecord>) => {
    const { changes, summary } = auditRow({ ...record, ...more }, circumstances, ID, AT);
    return { changes, summary };
  };

  test("[AL84] an audit entry has the value before and after of each changed field, and a summary in words", () => {
    const before = { name: "Old", role: "member", quota: { cpu: 4, memory: "8Gi" }, hosts: ["a"], sealed: "hunter2" };
    const changes = { name: "New", role: "member", quota: { cpu: 8, memory: "8Gi" }, hosts: ["a", "b"], revision: 7 };
    expect(described({ before, changes })).toEqual({
      changes: {
        name: { before: "Old", after: "New" },
        "quota.cpu": { before: 4, after: 8 },
        hosts: { before: "a", after: "a, b" },
        revision: 7,
      },
      summary: "name Old → New, quota.cpu 4 → 8, hosts a → a, b",
    });
    expect(described({ before, changes: { name: "Old" } })).toEqual({ changes: {}, summary: "Nothing changed" });
  });

  test.each<[string, string | null, string | null]>([
    ["addon_instance.create", "db", "addon instance db created"],
    ["cli_token.delete", "laptop", "CLI token laptop deleted"],
    ["session.end", null, "session ended"],
    ["cluster.rotate_token", "edge", null],
    ["role_binding.grant", null, null],
    ["task.constructor", "x", null],
    ["user.delete", "x".repeat(254), `user ${"x".repeat(195)}`],
  ])("[AL407] the action %s on %j without changed fields reads %j", (action, name, summary) => {
    const resource = { type: action.slice(0, action.indexOf(".")), id: ID, name };
    expect(auditRow({ action, resource, orgId: null }, circumstances, ID, AT).summary).toBe(summary);
  });

  test("[AL85] an audit entry names a secret, and what looks like one, without its value", () => {
    const before = { name: "Old", values: { auth: { password: "hunter1" } } };
    const changes = { values: { auth: { password: "hunter2" } }, secret_access_key: "changed" };
    expect(described({ before, changes })).toEqual({
      changes: { "values.auth.password": "changed", secret_access_key: "changed" },
      summary: "value auth.password changed, secret_access_key changed",
    });
  });

  test("[AL86] an audit entry stays small, however many fields have changed and however long they are", () => {
    const many = (text: string) =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, `${text} word`.repeat(1000)]));
    const { changes, summary } = described({ before: many("old"), changes: many("new") });
    const { more_changes, ...shown } = changes;
    expect(JSON.stringify(changes).length).toBeLessThan(10_000);
    expect(Object.keys(shown).length + Number(more_changes)).toBe(1000);
    expect(summary?.length).toBeLessThanOrEqual(200);
    expect(summary).toMatch(/ and 99\d more$/);
  });

  test("[AL1] the audit entry of a deletion has no changes", () => {
    const { changes: _, ...deletion } = record;
    expect(auditRow(deletion, circumstances, ID, AT).changes).toEqual({});
  });

  test("[AL2] an audit entry has the actor that the change itself names, as at a login", () => {
    const actor = { id: "bob", email: "bob@example.com", via: "user" } as const;
    expect(auditRow({ ...record, actor }, circumstances, ID, AT)).toMatchObject({
      actor_id: "bob",
      actor_email: "bob@example.com",
      via: "user",
      source_address: "203.0.113.7",
    });
  });
});

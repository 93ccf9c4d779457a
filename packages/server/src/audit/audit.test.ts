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
  test("[AL1] says who, by what, from where, did what to what, when and in which request", () => {
    expect(wireAuditEntry(auditRow(record, circumstances, ID, AT))).toEqual({
      id: ID,
      at: "2030-01-01T00:00:00.000Z",
      actor: { id: "ann", email: "ann@example.com" },
      via: "cli_token",
      source_address: "203.0.113.7",
      action: "org.update",
      resource: { type: "org", id: "org-1", name: "Demo" },
      changes: { name: "Demo" },
      request_id: "request-1",
    });
  });

  test("[AL1] of a deletion has no changes to show", () => {
    const { changes: _, ...deletion } = record;
    expect(auditRow(deletion, circumstances, ID, AT).changes).toEqual({});
  });

  test("[AL2] names the actor that the change itself names, as at a login", () => {
    const actor = { id: "bob", email: "bob@example.com", via: "user" } as const;
    expect(auditRow({ ...record, actor }, circumstances, ID, AT)).toMatchObject({
      actor_id: "bob",
      actor_email: "bob@example.com",
      via: "user",
      source_address: "203.0.113.7",
    });
  });
});

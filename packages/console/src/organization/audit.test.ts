import type { AuditEntry } from "@binnacle/client";
import { expect, test } from "vitest";
import { actionText, auditFilter, changesOf, csvCell, csvOf, inputOfTime, jsonOf, timeOfInput } from "./audit.ts";

const ID = "01a1e5b1-189b-758b-b265-915d6877c481";
const entry = (facts: Partial<AuditEntry> = {}): AuditEntry => ({
  id: "e5",
  at: "2026-01-31T09:30:00.000Z",
  actor: { id: ID, email: "ada@example.com" },
  via: "user",
  source_address: "10.0.0.1",
  action: "app.update",
  resource: { type: "app", id: "a", name: "web/shop" },
  changes: {},
  summary: null,
  request_id: "r",
  ...facts,
});

test.each([
  [{}, {}],
  [{ action: "app." }, { action: "app." }],
  [
    { actor: ID, object: ID, type: "app" },
    { actor_id: ID, resource_id: ID, resource_type: "app" },
  ],
  [{ since: "2026-01-31T09:30:00.000Z" }, { since: "2026-01-31T09:30:00.000Z" }],
  [
    {
      action: "DROP TABLE",
      actor: "x",
      type: "a b",
      object: "1",
      since: "yesterday",
      until: "2026-99-99T00:00:00.000Z",
    },
    {},
  ],
])("[WC89] the filter of the address %j sends the query %j", (search, filter) => {
  expect(auditFilter(search)).toEqual(filter);
});

test("[WC89] a time that is put into a field of the filter is read back the same", () => {
  const field = inputOfTime("2026-01-31T09:30:00.000Z");
  expect(field).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
  expect(timeOfInput(field)).toBe("2026-01-31T09:30:00.000Z");
  expect([timeOfInput(""), timeOfInput("x"), inputOfTime(undefined), inputOfTime("x")]).toEqual([
    undefined,
    undefined,
    "",
    "",
  ]);
});

test.each([
  ["plain", '"plain"'],
  ["", '""'],
  ['say "hi"', '"say ""hi"""'],
  ["a,b\nc", '"a,b\nc"'],
  ['=HYPERLINK("http://evil")', '"\'=HYPERLINK(""http://evil"")"'],
  ["+1", '"\'+1"'],
  ["-1", '"\'-1"'],
  ["@SUM(A1)", '"\'@SUM(A1)"'],
  ["\t=1", '"\'\t=1"'],
  ["\r=1", '"\'\r=1"'],
  ["  =1", '"\'  =1"'],
  ["\u0000=1", '"\'\u0000=1"'],
  ["＝1", '"\'＝1"'],
  ["a=1", '"a=1"'],
])("[WC90] the cell %j is written so that no spreadsheet runs it", (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});

test("[WC90] the export of the audit log has a header and a row for each entry, and names from others stay text", () => {
  const csv = csvOf([
    entry({ resource: { type: "app", id: null, name: "=cmd|'/c calc'!A1" }, changes: { replicas: 3 } }),
  ]);
  const [header, row, end] = csv.split("\r\n");
  expect(header).toBe(
    "at,actor,actor_id,via,source_address,action,resource_type,resource_id,resource_name,summary,changes,request_id,id",
  );
  expect(row).toContain(`"'=cmd|'/c calc'!A1","","{""replicas"":3}"`);
  expect(end).toBe("");
});

test("[WC90] the export of the audit log as JSON is what the API has answered", () => {
  expect(JSON.parse(jsonOf([entry()]))).toEqual([entry()]);
});

test("[WC91] a changed field is shown with its values before and after, and other details with one value", () => {
  const changes = { "web.replicas": { before: 2, after: 3 }, "web.secrets.API_KEY": "changed", revision: 4 };
  expect(changesOf({ changes })).toEqual([
    { field: "revision", before: undefined, after: 4 },
    { field: "web.replicas", before: 2, after: 3 },
    { field: "web.secrets.API_KEY", before: undefined, after: "changed" },
  ]);
});

test("[WC91] an action of the audit log is shown in words", () => {
  expect(actionText("stack_template.delete")).toBe("stack template: delete");
});

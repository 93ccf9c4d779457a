import { type Client, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { rowsOf } from "./rows.fixture.ts";

type Sending = NonNullable<Parameters<Client["send"]>[2]>;
type Answer = Awaited<ReturnType<Client["send"]>>;

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_BODY_LIMIT_BYTES: "1000000" } });
afterAll(() => world.stop());

const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** Sends it as the superuser, who may do everything, and makes sure that nothing came of it. */
async function refused(method: string, path: string, sending: Sending): Promise<Answer> {
  const before = await rowsOf(world);
  const answer = await world.admin.api.send(method, path, sending);
  expect(await rowsOf(world)).toEqual(before);
  expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(Object.keys(answer.body as object)).toEqual(["detail"]);
  return answer;
}

const problemsOf = (answer: Answer) =>
  (answer.body as { detail: { loc: unknown[]; type: string }[] }).detail.map(({ loc, type }) => [loc.join("."), type]);

describe("a body that cannot be read changes nothing", () => {
  test.each<[string, string | Uint8Array]>([
    ["broken", '{"name": "x"'],
    ["followed by more", '{"name":"x"}}'],
    ["not JSON at all", "name=x"],
    ["a bare minus", "-"],
    ["with a __proto__", '{"name":"x","__proto__":{"isSuperuser":true}}'],
    ["with an escaped __proto__", '{"name":"x","__pr\\u006fto__":{}}'],
    ["with constructor.prototype", '{"name":"x","constructor":{"prototype":{}}}'],
    ["100,000 levels deep in lists", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["100,000 levels deep in objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["nested deeply inside a free-form map", `{"settings":{"a":${"[".repeat(500)}${"]".repeat(500)}}}`],
    ["of more values than anybody means", `[${"1,".repeat(50_000)}1]`],
    ["of more values in a free-form map", `{"settings":{"a":[${"{},".repeat(25_000)}1]}}`],
    ["invalid UTF-8", bytes('{"name":"', [0xff, 0xfe], '"}')],
    ["an encoded surrogate", bytes('{"name":"', [0xed, 0xa0, 0x80], '"}')],
    ["UTF-16", Buffer.from('{"name":"x"}', "utf16le")],
  ])("[CV11] unreadable JSON is a 422: %s", async (_, raw) => {
    const answer = await refused("POST", "/orgs", { raw, headers: json });
    expect([answer.status, problemsOf(answer)]).toEqual([422, [["body", "json_invalid"]]]);
  });

  test("[CV11] a form that is not UTF-8 is a 422", async () => {
    const raw = bytes("username=admin&password=", [0xff]);
    const answer = await refused("POST", "/login", { raw, headers: form });
    expect([answer.status, problemsOf(answer)]).toEqual([422, [["body", "value_error"]]]);
  });

  test("[CV44] a form with too many parts is a 422", async () => {
    const part = '--bound\r\ncontent-disposition: form-data; name="create"\r\n\r\nfalse\r\n';
    const headers = { "content-type": "multipart/form-data; boundary=bound" };
    const raw = `${part.repeat(101)}--bound--\r\n`;
    const answer = await refused("POST", "/stack-templates/from-yaml", { raw, headers });
    expect([answer.status, problemsOf(answer)]).toEqual([422, [["body", "value_error"]]]);
  });

  test("[CV3] an unreadable body is reported together with what else is wrong", async () => {
    const answer = await refused("PUT", "/orgs/nonsense", { raw: "{", headers: json });
    expect(problemsOf(answer)).toEqual([
      ["path.id", "uuid_parsing"],
      ["body", "json_invalid"],
    ]);
  });
});

describe("a body that does not fit changes nothing", () => {
  test.each<[string, string, string, Sending, [string, string][]]>([
    ["nothing at all", "POST", "/orgs", {}, [["body", "missing"]]],
    ["an empty body", "POST", "/orgs", { raw: "", headers: json }, [["body", "missing"]]],
    ["null", "POST", "/orgs", { raw: "null", headers: json }, [["body", "dict_type"]]],
    ["a list", "POST", "/orgs", { body: [] }, [["body", "dict_type"]]],
    ["a missing field", "POST", "/orgs", { body: {} }, [["body.name", "missing"]]],
    ["a wrong type", "POST", "/orgs", { body: { name: 7 } }, [["body.name", "string_type"]]],
    ["an unknown field", "POST", "/orgs", { body: { name: "x", id: "1" } }, [["body.id", "extra_forbidden"]]],
    ["a field where none is due", "POST", "/refresh", { body: { force: true } }, [["body.force", "extra_forbidden"]]],
    ["broken JSON where no body is due", "POST", "/logout", { raw: "{", headers: json }, [["body", "json_invalid"]]],
    ["a NUL", "POST", "/orgs", { body: { name: "a\0b" } }, [["body.name", "value_error"]]],
    [
      "half a surrogate pair",
      "POST",
      "/orgs",
      { raw: '{"name":"\\ud800"}', headers: json },
      [["body.name", "value_error"]],
    ],
    ["a blank name", "POST", "/orgs", { body: { name: "  " } }, [["body.name", "string_pattern_mismatch"]]],
    ["a name too long", "POST", "/orgs", { body: { name: "x".repeat(101) } }, [["body.name", "string_too_long"]]],
    [
      "a form field twice",
      "POST",
      "/login",
      { raw: "username=a&username=b&password=c", headers: form },
      [["body.username", "string_type"]],
    ],
    [
      "a form field too many",
      "POST",
      "/login",
      { form: { username: "a", password: "b", x: "" } },
      [["body.x", "extra_forbidden"]],
    ],
    [
      "a NUL in a form",
      "POST",
      "/login",
      { form: { username: "a\0", password: "b" } },
      [["body.username", "value_error"]],
    ],
  ])("[CV2] a body that does not fit is a 422 with the problems: %s", async (_, method, path, sending, problems) => {
    const answer = await refused(method, path, sending);
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  test("[CV9] a NUL deep inside a free-form map is refused, in a value or in a key", async () => {
    const path = `/org/settings?org_id=${world.demoOrgId}`;
    const answer = await refused("PATCH", path, { body: { settings: { a: [{ b: "\0" }], "c\0": 1 } } });
    expect(problemsOf(answer)).toEqual([
      ["body.settings.a.0.b", "value_error"],
      ["body.settings.<key>", "value_error"],
    ]);
  });
});

describe("an address that does not fit changes nothing", () => {
  test.each<[string, string, [string, string][]]>([
    ["DELETE", "/orgs/1", [["path.id", "uuid_parsing"]]],
    ["DELETE", "/orgs/%00", [["path.id", "value_error"]]],
    ["DELETE", `/orgs/${"f".repeat(5000)}`, [["path.id", "uuid_parsing"]]],
    ["DELETE", "/orgs/urn:uuid:01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", [["path.id", "uuid_parsing"]]],
    ["DELETE", "/orgs/01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11%20", [["path.id", "uuid_parsing"]]],
    ["GET", "/org/settings", [["query.org_id", "missing"]]],
    ["GET", "/org/settings?org_id=", [["query.org_id", "uuid_parsing"]]],
    ["GET", "/org/settings?org_id=a&org_id=b", [["query.org_id", "string_type"]]],
    ["GET", "/orgs?page=1&page=2", [["query.page", "int_type"]]],
    [
      "GET",
      "/orgs?page=1.5&items_per_page=x",
      [
        ["query.page", "int_type"],
        ["query.items_per_page", "int_type"],
      ],
    ],
    ["GET", "/orgs?page=9999999999999999999999", [["query.page", "less_than_equal"]]],
    ["GET", "/orgs?page=%ff", [["query.page", "int_type"]]],
    [
      "GET",
      "/orgs?page[]=1&page=",
      [
        ["query.page[]", "extra_forbidden"],
        ["query.page", "int_type"],
      ],
    ],
  ])("[CV2] the request %s %s is a 422 that names what is wrong", async (method, path, problems) => {
    const answer = await refused(method, path, {});
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  test("[ER6] an invalid escape in the URL is a 400", async () => {
    const answer = await refused("DELETE", "/orgs/%E0%A4", {});
    expect([answer.status, answer.body]).toEqual([400, { detail: "The URL is not well-formed." }]);
  });
});

describe("a body that is too large changes nothing", () => {
  const tooLarge = [413, { detail: "The request body is too large." }];

  test("[CV14] a body that is too large is a 413, whether it announces its length or not", async () => {
    const large = JSON.stringify({ name: "x".repeat(1_000_000) });
    const said = await refused("POST", "/orgs", { raw: large, headers: json });
    expect([said.status, said.body]).toEqual(tooLarge);
    const unsaid = await fetch(`${world.url}/api/v1/orgs`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${world.admin.token}` },
      body: new Blob([large]).stream(),
      duplex: "half",
    });
    expect([unsaid.status, await unsaid.json()]).toEqual(tooLarge);
  });

  test("[CV14] where no credential is needed, a body of more than 16 KiB is a 413", async () => {
    const form = await refused("POST", "/login", { form: { username: "x".repeat(20_000), password: "x" } });
    expect([form.status, form.body]).toEqual(tooLarge);
    const body = { requested_scopes: ["clusters:read"], client_name: "x".repeat(20_000) };
    expect((await refused("POST", "/auth/cli/device", { body })).status).toBe(413);
  });
});

describe("a body of another kind changes nothing", () => {
  const body = '{"name":"x"}';

  test.each([
    ["plain text", "POST", "/orgs", { "content-type": "text/plain" }],
    ["XML", "POST", "/orgs", { "content-type": "application/xml" }],
    ["a form where JSON is due", "POST", "/orgs", form],
    ["JSON where a form is due", "POST", "/login", json],
    ["an invalid media type", "POST", "/orgs", { "content-type": "json" }],
    ["a compressed one", "POST", "/orgs", { ...json, "content-encoding": "gzip" }],
    ["text to an operation without a body", "POST", "/refresh", { "content-type": "text/plain" }],
  ])("[CV13] a body of another kind is a 415: %s", async (_, method, path, headers) => {
    const answer = await refused(method, path, { raw: body, headers: headers as unknown as Record<string, string> });
    expect([answer.status, answer.body]).toEqual([415, { detail: expect.any(String) }]);
  });

  test("[CV13] a body without a media type is a 415", async () => {
    const answer = await refused("POST", "/orgs", { raw: Buffer.from(body) });
    expect(answer.status).toBe(415);
  });

  test("[CV13] the media type's case and parameters make no difference", async () => {
    const headers = { "content-type": "Application/JSON ; charset=utf-8" };
    expect((await world.admin.api.send("POST", "/orgs", { raw: "{}", headers })).status).toBe(422);
  });
});

test.each<[number, string, string, Sending]>([
  [401, "POST", "/orgs", { body: { name: "x" }, headers: { authorization: "Bearer nonsense" } }],
  [404, "DELETE", "/orgs/01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", {}],
  [405, "PATCH", "/orgs", { body: { name: "x" } }],
  [409, "POST", "/orgs", { body: { name: "demo" } }],
  [422, "POST", "/orgs", { body: { name: "x", description: 7 } }],
])("[CV17] a request that is refused with %i changes no record", async (status, method, path, sending) => {
  expect((await refused(method, path, sending)).status).toBe(status);
});

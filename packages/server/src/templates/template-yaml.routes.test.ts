// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested

import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { definitionId } from "../catalog/catalog-file.ts";
import { content, someName } from "./template.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const place = await world.projectWithPeople();
const { admin, member } = place;
afterAll(() => world.stop());

type Parts = Record<string, string | Blob>;

const send = (parts: Parts, api = admin.api) => api.send("POST", "/stack-templates/from-yaml", { parts });
const storedNames = async () =>
  (await world.database.kysely.selectFrom("stack_templates").select("name").execute()).map(({ name }) => name);

describe("POST /stack-templates/from-yaml", () => {
  test("[TP28] POST /stack-templates/from-yaml tells what a valid text contains, and stores nothing", async () => {
    const given = content();
    const answer = await send({ yaml_content: stringify(given) });
    expect(answer).toMatchObject({ status: 200, body: { valid: true, errors: [], template: given } });
    expect(await storedNames()).not.toContain(given.name);
  });

  test("[AP182] POST /stack-templates/from-yaml takes exportRef for export_ref", async () => {
    const component = (refs: object) => ({ name: "web", workload_spec: { image: "${image}" }, ...refs });
    const given = content({ components: [component({ exportRefs: [{ component: "web-2" }] }), { name: "web-2" }] });
    expect((await send({ yaml_content: stringify(given) })).body).toMatchObject({
      valid: true,
      template: { components: [component({ export_refs: [{ component: "web-2" }] }), { name: "web-2" }] },
    });
  });

  test("[TP28] POST /stack-templates/from-yaml names everything that is wrong with a text that is not valid", async () => {
    const misformed = await send({ yaml_content: stringify(content({ name: "No Label", scope: "galaxy", owner: 1 })) });
    expect(misformed).toMatchObject({ status: 200, body: { valid: false, template: null } });
    expect(misformed.body.errors.map(({ loc }: { loc: unknown[] }) => loc.join(".")).toSorted()).toEqual([
      "body.yaml_content.name",
      "body.yaml_content.owner",
      "body.yaml_content.scope",
    ]);
    const unknown = await send({ file: new Blob([stringify(content({ components: [{ name: "${oops}" }] }))]) });
    expect(unknown.body).toMatchObject({
      valid: false,
      errors: [{ loc: ["body", "file", "components", 0] }, { loc: ["body", "file", "parameters", 0] }],
    });
    const addon_spec = { definition_id: definitionId("postgresql"), values: { auth: { password: "hunter22" } } };
    const secretive = { name: "db", components: [{ name: "db", type: "addon", addon_spec }] };
    expect((await send({ yaml_content: stringify(secretive) })).body).toMatchObject({
      valid: false,
      errors: [{ loc: ["body", "yaml_content", "components", 0, "addon_spec", "values", "auth", "password"] }],
    });
    const broken = await send({ yaml_content: "name: [", create: "false" });
    expect(broken.body).toMatchObject({ valid: false, errors: [{ loc: ["body", "yaml_content"] }], template: null });
    for (const yaml_content of ["just text", "- a\n- b", "5", 'name: "a\\0b"\ncomponents: [{ name: x }]']) {
      expect(await send({ yaml_content })).toMatchObject({ status: 200, body: { valid: false } });
    }
  });

  test("[TP29] POST /stack-templates/from-yaml creates the template in the namespace of the form, before the one in the text", async () => {
    const ownNamespace = someName();
    const given = content({ namespace: ownNamespace });
    const file = new File([stringify(given)], "template.yaml", { type: "application/yaml" });
    const created = await send({ file, create: "true", namespace: place.namespace });
    expect(created).toMatchObject({ status: 201, body: { ...given, namespace: place.namespace, org_id: place.org } });
    const read = await admin.api.get(`/stack-templates/${place.namespace}/${given.name}`);
    expect(read).toMatchObject({ status: 200, body: created.body });
    expect(read.headers.get("etag")).toBe(created.headers.get("etag"));

    const again = await send({ yaml_content: stringify(given), create: "true", namespace: place.namespace });
    expect(again.status).toBe(409);
    expect((await send({ yaml_content: stringify(given), create: "true" })).body.namespace).toBe(ownNamespace);
  });

  test("[TP29] POST /stack-templates/from-yaml needs a namespace, a valid template and a caller who may write it", async () => {
    const given = content();
    const yaml_content = stringify(given);
    expect(await send({ yaml_content, create: "true" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "namespace"], type: "missing" }] },
    });
    const invalid = await send({ yaml_content: "name: x", create: "true", namespace: place.namespace });
    expect(invalid).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "yaml_content", "components"] }] } });
    const parts = { yaml_content, create: "true", namespace: place.namespace };
    expect((await send(parts, member.api)).status).toBe(403);
    expect((await send({ ...parts, org_id: await world.org() }, member.api)).status).toBe(404);
    expect((await send(parts, world.anyone)).status).toBe(401);
    expect(await storedNames()).not.toContain(given.name);
  });

  test.each([
    ["a bomb", "a: &a [x]\nb: [*a, *a]"],
    ["a tag", "name: !!python/object x"],
    ["a key twice", "name: a\nname: b"],
    ["lists without end", "[".repeat(100_000)],
  ])("[TP30] POST /stack-templates/from-yaml refuses %s", async (_, yaml_content) => {
    expect(await send({ yaml_content })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "yaml_content"], type: "value_error" }] },
    });
  });

  test("[TP30] POST /stack-templates/from-yaml refuses files that are too large", async () => {
    expect((await send({ file: new Blob(["x".repeat(200_000)]) })).status).toBe(422);
    expect((await send({ file: new Blob(["x".repeat(10_000_000)]) })).status).toBe(413);
  });

  test("[TP31] POST /stack-templates/from-yaml takes exactly one of file and yaml_content, and no unknown fields", async () => {
    const yaml_content = stringify(content());
    for (const parts of [{}, { yaml_content, file: new Blob([yaml_content]) }] satisfies Parts[]) {
      expect(await send(parts)).toMatchObject({ status: 422, body: { detail: [{ loc: ["body"] }] } });
    }
    expect((await send({ yaml_content, extra: "x" })).status).toBe(422);
    expect((await send({ yaml_content, create: "perhaps" })).status).toBe(422);
  });

  test("[TP31] POST /stack-templates/from-yaml refuses a body that is not a form, or not UTF-8", async () => {
    const path = "/stack-templates/from-yaml";
    expect((await admin.api.post(path, { yaml_content: "a" })).status).toBe(415);
    for (const type of ["multipart/form-data", "multipart/form-data; boundary=x"]) {
      const sending = { raw: "no form", headers: { "content-type": type } };
      expect(await admin.api.send("POST", path, sending)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body"] }] },
      });
    }
    expect((await send({ file: new Blob([new Uint8Array([0xff, 0xfe])]) })).status).toBe(422);
  });
});

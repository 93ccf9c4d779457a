import { createApp, recordClusterBundle } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyProblems } from "./checked.fixture.ts";
import { soundPart, withFurther } from "./sound-part.ts";
import { isOfRule } from "./validation-item.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const typesOf = (body: unknown) => bodyProblems(createApp, body).filter((item) => !isOfRule(item));
const sound = (body: unknown) => soundPart(body, typesOf);

describe("the sound part of a body", () => {
  test("[CV33] the sound part is the body itself where every value has its type, whatever else is wrong", () => {
    const body = {
      name: "Not A Label",
      project_id: "x",
      components: [{ name: "web", workload_spec: { replicas: 0 } }],
    };
    expect(sound(body)).toMatchObject({ body, isPartial: false });
  });

  test("[CV33] the sound part lacks values of another type, and list items that are incomplete without them", () => {
    const spec = { image: 5, ports: [{ name: "a" }, { name: "b", port: 80 }], env: [{ value: 1 }] };
    const found = sound({ name: "shop", project_id: ID, components: [7, { name: "web", workload_spec: spec }] });
    expect(found).toMatchObject({
      body: {
        name: "shop",
        project_id: ID,
        components: [{ name: "web", workload_spec: { ports: [{ name: "b", port: 80 }], env: [] } }],
      },
      isPartial: true,
    });
    const loc = ["body", "components", 0, "workload_spec", "ports", 0, "port"];
    expect(found?.original(loc)).toEqual(["body", "components", 1, "workload_spec", "ports", 1, "port"]);
  });

  test("[CV33] the sound part may lack any field of the body", () => {
    expect(sound({ components: "none" })).toMatchObject({ body: {}, isPartial: true });
    expect(sound([])).toBeNull();
  });

  test("[CV33] the sound part has no value of a wrong type, whatever the body holds", () => {
    fc.assert(
      fc.property(fc.object({ key: fc.constantFrom("bundle_version", "profiles", "install_journal", "x") }), (body) => {
        const check = (value: unknown) => bodyProblems(recordClusterBundle, value).filter((item) => !isOfRule(item));
        const part = soundPart(body, check);
        const left = (part ? check(part.body) : []).map(({ type }) => type);
        expect(left.filter((type) => /_type$/.test(type))).toEqual([]);
      }),
    );
  });

  test("[CV33] further problems about a value that is already refused are left out", () => {
    const item = (...loc: string[]) => ({ loc: ["body", ...loc], msg: loc.join("."), type: "value_error" as const });
    expect(withFurther([item("a")], [item("a", "b"), item("a"), item("c")])).toEqual([item("a"), item("c")]);
  });
});

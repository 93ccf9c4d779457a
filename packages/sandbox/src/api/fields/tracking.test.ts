import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiFault } from "../fault.ts";
import { kubernetesSchema } from "../schema/kubernetes-schema.ts";
import { entriesOf, type Managers } from "./managers.ts";
import { afterUpdate, applied, type Writer } from "./tracking.ts";
import { isRecord, type JsonRecord } from "./typed-value.ts";

const schema = kubernetesSchema("core.v1.PodSpec");
const writer = (manager: string): Writer => ({
  manager,
  apiVersion: "v1",
  subresource: "",
  time: "2026-01-01T00:00:00Z",
  filter: (set) => set,
});
const apply = (live: JsonRecord, config: JsonRecord, known: Managers, manager: string, force = false) =>
  applied(schema, live, config, known, { ...writer(manager), force });

/** Pod specs with what server-side apply tells apart: fields, maps, lists by keys, sets, and lists as a whole. */
const specs = fc.record(
  {
    hostname: fc.constantFrom("x", "y"),
    nodeSelector: fc.dictionary(fc.constantFrom("k", "l"), fc.constantFrom("1", "2")),
    containers: fc.uniqueArray(
      fc.record(
        {
          name: fc.constantFrom("a", "b", "c"),
          image: fc.constantFrom("i:1", "i:2"),
          args: fc.array(fc.constantFrom("p", "q"), { maxLength: 2 }),
          env: fc.uniqueArray(fc.record({ name: fc.constantFrom("E", "F"), value: fc.constantFrom("1", "2") }), {
            selector: ({ name }) => name,
            maxLength: 2,
          }),
        },
        { requiredKeys: ["name"] },
      ),
      { selector: ({ name }) => name, maxLength: 3 },
    ),
    imagePullSecrets: fc.uniqueArray(fc.record({ name: fc.constantFrom("s", "t") }), { selector: ({ name }) => name }),
  },
  { requiredKeys: [] },
);

describe("server-side apply", () => {
  test("[SA32] applying the same configuration again changes nothing", () => {
    fc.assert(
      fc.property(specs, specs, (live, config) => {
        const first = apply(live, config, new Map(), "me", true);
        const second = apply(first.object, config, first.managers, "me");
        expect(second.object).toEqual(first.object);
        expect(second.isChanged).toBe(false);
      }),
    );
  });

  test("[SA32] a field that only one manager has applied is removed when that manager applies it no more", () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const one = apply({}, first, new Map(), "me");
        const two = apply(one.object, second, one.managers, "me");
        expect(filled(ordered(two.object))).toEqual(filled(ordered(second)));
      }),
    );
  });

  test("[SA32] a field that another manager has applied stays, whatever else is applied and removed", () => {
    fc.assert(
      fc.property(specs, specs, (theirs, ours) => {
        const one = apply({}, theirs, new Map(), "they");
        const two = attempt(() => apply(one.object, ours, one.managers, "we"));
        fc.pre(two !== null);
        const three = apply(two.object, {}, two.managers, "we");
        expect(filled(ordered(three.object))).toEqual(filled(ordered(theirs)));
        const again = apply(three.object, theirs, three.managers, "they");
        expect(filled(ordered(again.object))).toEqual(filled(ordered(three.object)));
      }),
    );
  });

  test("[SA33] another value is refused with the field and its manager, and taken by force", () => {
    const { managers, object } = apply({}, { containers: [{ name: "a", image: "i:1" }] }, new Map(), "they");
    const config = { containers: [{ name: "a", image: "i:2" }] };
    const refusal = caught(() => apply(object, config, managers, "we"));
    expect(refusal).toMatchObject({ code: 409, reason: "Conflict" });
    expect(refusal.details?.causes).toEqual([
      { reason: "FieldManagerConflict", message: 'conflict with "they"', field: '.containers[name="a"].image' },
    ]);
    const forced = apply(object, config, managers, "we", true);
    expect(forced.object).toMatchObject(config);
    expect(entriesOf(forced.managers).find(({ manager }) => manager === "they")?.fieldsV1).toEqual({
      "f:containers": { 'k:{"name":"a"}': { ".": {}, "f:name": {} } },
    });
  });

  test("[SA33] a field that two managers apply with the same value stays when one of them removes it", () => {
    const one = apply({}, { hostname: "x" }, new Map(), "a");
    const two = apply(one.object, { hostname: "x" }, one.managers, "b");
    expect(entriesOf(two.managers)).toHaveLength(2);
    const three = apply(two.object, {}, two.managers, "a");
    expect(three.object["hostname"]).toBe("x");
  });
});

test("[SA31] an update takes over the fields that it changes and leaves the rest", () => {
  const before = { hostname: "x", nodeSelector: { k: "1" }, containers: [{ name: "a", image: "i:1" }] };
  const known = afterUpdate(schema, {}, before, new Map(), writer("a"));
  const managers = afterUpdate(schema, before, { ...before, hostname: "y" }, known, writer("b"));
  expect(entriesOf(managers).map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1 ?? {})])).toEqual([
    ["a", ["f:containers", "f:nodeSelector"]],
    ["b", ["f:hostname"]],
  ]);
});

test("[SA34] the oldest of too many update managers are merged into one", () => {
  let managers: Managers = new Map();
  let live: JsonRecord = {};
  for (let number = 0; number < 15; number++) {
    const next = { ...live, nodeSelector: {}, hostname: `${number}`, [`f${number}`]: 1 };
    managers = afterUpdate({ ...schema, isOpen: true }, live, next, managers, {
      ...writer(`m${number}`),
      time: `2026-01-01T00:00:${10 + number}Z`,
    });
    live = next;
  }
  const entries = entriesOf(managers);
  expect(entries).toHaveLength(10);
  expect(entries[0]).toMatchObject({ manager: "ancient-changes", operation: "Update" });
  expect(entries.at(-1)).toMatchObject({ manager: "m14" });
});

/** Null where another manages something. */
function attempt<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof ApiFault) return null;
    throw error;
  }
}

/** Without nulls and without what is empty, which may stay where something was. */
function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (!isRecord(value)) return value;
  const isHollow = (inner: unknown) =>
    inner === null || inner === undefined || (typeof inner === "object" && Object.keys(inner).length === 0);
  const entries = Object.entries(value).map(([name, inner]) => [name, filled(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => !isHollow(inner)));
}

/** With lists whose elements have names in the order of these, because merging may order them otherwise. */
function ordered(value: unknown): unknown {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, ordered(inner)]));
  if (!Array.isArray(value) || !value.every((one) => isRecord(one) && "name" in one)) return value;
  return value
    .map(ordered)
    .sort((a, b) => (JSON.stringify((a as JsonRecord)["name"]) < JSON.stringify((b as JsonRecord)["name"]) ? -1 : 1));
}

function caught(act: () => unknown): ApiFault {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiFault) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

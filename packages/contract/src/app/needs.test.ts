import fc from "fast-check";
import { expect, test } from "vitest";
import { circularNeeds, needsOf } from "./needs.ts";

const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
const graph = fc.uniqueArray(fc.record({ name, depends_on: fc.array(name, { maxLength: 4 }) }), {
  selector: (component) => component.name,
});

test("[AP55] a circle is found exactly where no order satisfies every need", () => {
  fc.assert(
    fc.property(graph, (components) => {
      const needs = needsOf(components);
      let left = needs;
      for (;;) {
        const going = new Set(left.map(({ from }) => from));
        const next = left.filter(({ to }) => going.has(to));
        if (next.length === left.length) break;
        left = next;
      }
      expect(circularNeeds(needs).length === 0).toBe(left.length === 0);
    }),
  );
});

test.each<[string, Record<string, string[]>, string[]]>([
  ["one that needs itself", { a: ["a"] }, ["a"]],
  ["two", { a: ["b"], b: ["a"] }, ["a", "b"]],
  ["three, the shortest way", { a: ["b", "c"], b: ["c"], c: ["a"] }, ["a", "b", "c"]],
  ["what waits for a circle is not in it", { z: ["a"], a: ["b"], b: ["a"] }, ["a", "b"]],
])("[AP55] a circle is named by its components: %s", (_, needs, circle) => {
  const components = Object.entries(needs).map(([name, depends_on]) => ({ name, depends_on }));
  expect(circularNeeds(needsOf(components))[0]?.circle).toEqual(circle);
});

test("[AP55] a circle among thousands of needs is found in little time", () => {
  const names = Array.from({ length: 100 }, (_, index) => `c${index}`);
  const components = names.map((name) => ({ name, depends_on: names }));
  const startedAt = process.threadCpuUsage();
  expect(circularNeeds(needsOf(components))).toHaveLength(10_000);
  const { user, system } = process.threadCpuUsage(startedAt);
  expect((user + system) / 1000).toBeLessThan(500);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { isEvent } from "./event.ts";
import { anyEvent, eventOf } from "./events.fixture.ts";

test("[EV10] whatever is an event is taken for one, as JSON carries it", () => {
  fc.assert(fc.property(anyEvent, (event) => isEvent(JSON.parse(JSON.stringify(event)))));
});

test("[EV10] whatever else there is, is not", () => {
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
])("[EV10] an event with %j is none", (facts) => {
  expect(isEvent({ ...eventOf(), ...facts })).toBe(false);
});

import { expect, test } from "vitest";
import { TROUBLES } from "../../packages/console/src/status/status.ts";
import { POD_TROUBLES } from "../../packages/contract/src/index.ts";

test("[WC162] the console takes every reason that the operator has for pods that do not start as one that holds up", () => {
  expect([...TROUBLES].sort()).toEqual([...POD_TROUBLES].sort());
});

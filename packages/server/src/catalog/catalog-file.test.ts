import { expect, test } from "vitest";
import { definitionId } from "./catalog-file.ts";

test("[CG9] the ids of addons do not change", () => {
  expect(definitionId("postgresql")).toBe("cca48264-78df-5455-bee5-885dfc6e6b02");
  expect(definitionId("valkey")).toBe("8833dbb7-b494-5d70-8e63-0a9f9213c10f");
});

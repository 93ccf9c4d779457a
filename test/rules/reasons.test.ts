import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { AppReport, POD_TROUBLES, REASONS, ShownReason } from "../../packages/contract/src/index.ts";
import { appReport } from "../../packages/server/src/hub/reports.fixture.ts";
import { REASONS_FILE, REASONS_PAGE, reasonsPage, reasonsSource } from "../../scripts/reasons.ts";

test("[AP448] the page of reasons and the client's list are those of the contract", () => {
  expect(readFileSync(REASONS_PAGE, "utf8")).toBe(reasonsPage());
  expect(readFileSync(REASONS_FILE, "utf8")).toBe(reasonsSource());
});

test("[AP448] every reason has a sentence that says what it means, and one that says what to do", () => {
  const texts = Object.values(REASONS).flatMap(({ meaning, action }) => [meaning, action]);
  expect(texts.length).toBeGreaterThan(120);
  expect(texts.filter((text) => !/^[A-Z].*\.$/.test(text))).toEqual([]);
  expect(POD_TROUBLES.filter((reason) => !(reason in REASONS))).toEqual([]);
});

test("[AP449] a reason of an operator of another version is accepted and shown", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  expect(ajv.validate(AppReport, appReport({ reason: "ReasonOfTomorrow" }))).toBe(true);
  expect(ajv.validate(ShownReason, "ReasonOfTomorrow")).toBe(true);
});

import { expect, test } from "vitest";
import { exportKeysOf } from "./exports.ts";

test("[AD3] the export keys of a definition are sorted by name, with description and whether they are secret", () => {
  const export_schema = {
    url: { description: "The address.", secret: true, from: { value: "x" } },
    host: { description: "The host.", secret: false, from: { service: "x" } },
  };
  expect(exportKeysOf({ export_schema })).toEqual([
    { key: "host", description: "The host.", secret: false },
    { key: "url", description: "The address.", secret: true },
  ]);
});

import type { AddonDefinitionFile } from "@binnacle/contract";
import { expect, test } from "vitest";
import type { Instance } from "./addon.ts";
import { addonBody, withSecrets } from "./addon-sync.ts";
import { redactValues } from "./addon-values.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const export_schema = { host: { description: "The host.", secret: false, from: { service: "db" } } };
const definition = {
  chart: { repo: "https://charts.example.com", name: "store", version: "2.0.0", versions: ["2.0.0", "1.0.0"] },
  default_values: { auth: { user: "app", password: "never" }, size: "1Gi" },
  export_schema,
} as unknown as AddonDefinitionFile;
const instance = {
  id: ID,
  project_id: ID,
  namespace: "shop",
  name: "db",
  chart_version: "1.0.0",
  values: redactValues({ auth: { user: "shop" } }, ["auth.password"], "db"),
} as unknown as Instance;

test("[DS5] the body of an addon instance has its version, and its values over the defaults with the secrets in place", () => {
  expect(addonBody(instance, definition, new Map([["auth.password", "hunter2"]]))).toEqual({
    spec: {
      project_id: ID,
      namespace: "shop",
      name: "db",
      chart: { repo: "https://charts.example.com", name: "store", version: "1.0.0" },
      export_schema,
    },
    secret: { values: { auth: { user: "shop", password: "hunter2" }, size: "1Gi" } },
  });
});

test("[DS5] a secret is put at its path, which is created if needed, and other values stay", () => {
  const values = withSecrets(
    { a: { b: 1 } },
    new Map([
      ["a.c.d", "x"],
      ["e", "y"],
    ]),
  );
  expect(values).toEqual({ a: { b: 1, c: { d: "x" } }, e: "y" });
});

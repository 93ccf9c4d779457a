import { expect, test } from "vitest";
import { binnacleOf, curlOf, withoutSecrets } from "./commands.ts";

test("[WC6] a change is shown as a curl command that names the token by a variable", () => {
  const input = { namespace: "web", name: "shop", body: { component: "api", replicas: 3 } };
  expect(curlOf("https://b.example", "scaleApp", input)).toBe(
    [
      "curl -X POST 'https://b.example/api/v1/apps/web/shop/scale'",
      '-H "Authorization: Bearer $BINNACLE_TOKEN"',
      '-H "Content-Type: application/json"',
      `-d '{"component":"api","replicas":3}'`,
    ].join(" \\\n  "),
  );
});

test("[WC820] the curl command of a call for which nothing is chosen yet says so at its place", () => {
  const input = { namespace: "web", name: "shop", project_id: "", addon_instance_id: "" };
  expect(curlOf("https://b.example", "detachAddon", input)).toContain(
    "'https://b.example/api/v1/apps/web/shop/attach-addon/…?project_id=…'",
  );
});

test("[WC6] a quote in a value cannot end an argument of the shown command", () => {
  const input = { namespace: "web", name: "shop", body: { description: "it's; rm -rf /" } };
  expect(curlOf("https://b.example", "updateApp", input)).toContain(`it'\\''s; rm -rf /`);
});

test("[WC7] secret fields are left out of the commands that the console shows, at any depth", () => {
  const body = { name: "x", password: "p", env: [{ secret_access_key: "k", nested: { token: "t" } }], secret: null };
  expect(withoutSecrets(body)).toEqual({
    name: "x",
    password: "…",
    env: [{ secret_access_key: "…", nested: { token: "…" } }],
    secret: null,
  });
});

const NAMED = [
  { id: "0199-1", name: "it's production" },
  { id: "0199-2", name: "acme" },
];

test.each<[Parameters<typeof binnacleOf>[0], object, string | null]>([
  ["deleteCluster", { id: "0199-1" }, "binnacle clusters delete 'it'\\''s production'"],
  ["createCluster", { org_id: "0199-2", body: { name: "" } }, "binnacle clusters register … --org acme"],
  [
    "createProject",
    { body: { name: "shop", cluster_id: "0199-1" } },
    "binnacle projects create shop --cluster 'it'\\''s production'",
  ],
  ["startOperatorUpgrade", { body: { cluster_ids: ["0199-2"] } }, "binnacle clusters upgrade-operator acme"],
  ["createCliToken", { body: { name: "ci", scopes: [] } }, "binnacle tokens create ci --scopes …"],
  [
    "deployStackTemplate",
    { namespace: "n", name: "web", body: { project_id: "", parameters: { session: "…", count: 3 } } },
    "binnacle templates deploy n/web --project … --set session=… --set count=3",
  ],
  ["bootstrapNode", { body: {} }, null],
])("[WC820] the command of %s with %j names things and leaves out what is not filled in", (operation, input, line) => {
  expect(binnacleOf(operation, input, NAMED)).toBe(line);
});

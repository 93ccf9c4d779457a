import { expect, test } from "vitest";
import { curlOf, withoutSecrets } from "./commands.ts";

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

test("[WC6] a quote in a value cannot end the command's argument", () => {
  const input = { namespace: "web", name: "shop", body: { description: "it's; rm -rf /" } };
  expect(curlOf("https://b.example", "updateApp", input)).toContain(`it'\\''s; rm -rf /`);
});

test("[WC7] secret fields are left out of the commands, at any depth", () => {
  const body = { name: "x", password: "p", env: [{ secret_access_key: "k", nested: { token: "t" } }], secret: null };
  expect(withoutSecrets(body)).toEqual({
    name: "x",
    password: "…",
    env: [{ secret_access_key: "…", nested: { token: "…" } }],
    secret: null,
  });
});

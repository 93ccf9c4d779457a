import { expect, test } from "vitest";
import { startEdge } from "./edge.fixture.ts";

const WARNED = "BINNACLE_TRUSTED_PROXIES is not set";
const routes = (app: Parameters<NonNullable<Parameters<typeof startEdge>[0]>>[0]) => {
  app.get("/", async () => ({}));
};

test.each([
  ["x-forwarded-for", "203.0.113.9"],
  ["forwarded", "for=203.0.113.9"],
])(
  "[OP19] a request with %s from a proxy that is not configured is logged once as a warning, with what to do",
  async (name, value) => {
    const edge = await startEdge(routes);
    for (let count = 0; count < 3; count++) {
      await edge.lineOf(await fetch(edge.url, { headers: { [name]: value } }));
    }
    const warnings = edge.logged.filter(({ msg }) => String(msg).includes(WARNED));
    expect(warnings).toEqual([
      expect.objectContaining({
        level: "warn",
        proxy: "127.0.0.1",
        msg: expect.stringContaining("Set BINNACLE_TRUSTED_PROXIES to the address of the proxy"),
      }),
    ]);
    expect(JSON.stringify(warnings)).not.toContain("203.0.113.9");
    await edge.app.close();
  },
);

test("[OP19] no warning is logged without a proxy, or where the proxy is configured", async () => {
  const direct = await startEdge(routes);
  await direct.lineOf(await fetch(direct.url));
  const configured = await startEdge(routes, { trustedProxies: ["127.0.0.1"] });
  await configured.lineOf(await fetch(configured.url, { headers: { "x-forwarded-for": "203.0.113.9" } }));
  for (const { logged, app } of [direct, configured]) {
    expect(logged.filter(({ msg }) => String(msg).includes(WARNED))).toEqual([]);
    await app.close();
  }
});

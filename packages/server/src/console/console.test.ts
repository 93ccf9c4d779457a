import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify from "fastify";
import { afterAll, expect, test } from "vitest";
import { sendFailure } from "../http/failure.ts";
import { registerConsole } from "./console.routes.ts";

const folder = mkdtempSync(join(tmpdir(), "binnacle-console-"));
mkdirSync(join(folder, "assets"));
writeFileSync(join(folder, "index.html"), "<!doctype html><title>Binnacle</title>");
writeFileSync(join(folder, "assets/index-abc.js"), "plain");
writeFileSync(join(folder, "assets/index-abc.js.br"), "compressed");
afterAll(() => rmSync(folder, { recursive: true }));

async function serving(built: string) {
  const app = Fastify();
  app.setErrorHandler<Error>(sendFailure);
  app.get("/api/v1/version", async () => ({}));
  await registerConsole(app, built);
  return app;
}

test.each(["/", "/login", "/o/demo/apps/web/shop", "/account", "/device?user_code=ABCD", "/admin"])(
  "[WC12] %s is a page, which is asked for at every visit",
  async (url) => {
    const answer = await (await serving(folder)).inject(url);
    expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([200, "no-cache"]);
    expect(answer.body).toContain("<title>Binnacle</title>");
  },
);

test("[WC12] a file with a hash in its name is kept for ever, and sent as it was compressed", async () => {
  const headers = { "accept-encoding": "br, gzip" };
  const answer = await (await serving(folder)).inject({ url: "/assets/index-abc.js", headers });
  expect(answer.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "br",
  });
  expect(answer.body).toBe("compressed");
});

test.each(["/api/v1/nothing", "/nothing", "/assets/none.js", "/assets/../index.html", "/o", "/index.html"])(
  "[WC13] %s is a 404",
  async (url) => {
    expect((await (await serving(folder)).inject(url)).statusCode).toBe(404);
  },
);

test("[WC13] another method on a page is a 405", async () => {
  expect((await (await serving(folder)).inject({ method: "POST", url: "/login" })).statusCode).toBe(405);
});

test("[WC14] a server whose console is not built says so", async () => {
  const answer = await (await serving(join(folder, "missing"))).inject("/");
  expect([answer.statusCode, answer.json()]).toEqual([
    404,
    { detail: "The console is not built. Run `npm run build:console`, then restart." },
  ]);
});

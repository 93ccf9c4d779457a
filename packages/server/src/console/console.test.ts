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
  "[WC12] %s is a page of the console, which browsers revalidate at every visit",
  async (url) => {
    const answer = await (await serving(folder)).inject(url);
    expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([200, "no-cache"]);
    expect(answer.body).toContain("<title>Binnacle</title>");
  },
);

test("[WC2221] a page is sent whole at every visit, because the page of the next release may have the same size and time", async () => {
  const { headers } = await (await serving(folder)).inject("/");
  expect([headers["etag"], headers["last-modified"]]).toEqual([undefined, undefined]);
});

test("[WC12] a file with a hash in its name may be cached for ever, and is sent compressed", async () => {
  const headers = { "accept-encoding": "br, gzip" };
  const answer = await (await serving(folder)).inject({ url: "/assets/index-abc.js", headers });
  expect(answer.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "br",
  });
  expect(answer.body).toBe("compressed");
});

test.each(["/api/v1/nothing", "/nothing", "/assets/none.js", "/assets/../index.html", "/o", "/index.html"])(
  "[WC13] %s is a 404 and no page of the console",
  async (url) => {
    expect((await (await serving(folder)).inject(url)).statusCode).toBe(404);
  },
);

test("[WC13] another method on a page of the console is a 405", async () => {
  expect((await (await serving(folder)).inject({ method: "POST", url: "/login" })).statusCode).toBe(405);
});

test("[WC14] a server whose console is not built says so at /", async () => {
  const answer = await (await serving(join(folder, "missing"))).inject("/");
  expect([answer.statusCode, answer.json()]).toEqual([
    404,
    { detail: "The console is not built. Run `npm run build:console`, then restart." },
  ]);
});

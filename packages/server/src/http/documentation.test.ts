import { runInNewContext } from "node:vm";
import { type Client, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { describedRoutes } from "../routes.ts";
import { openApiDocument } from "./openapi.ts";

const BASES = ["", "/api/v1"];
const PAGES = BASES.flatMap((base) => [`${base}/docs`, `${base}/docs/`, `${base}/docs/json`, `${base}/openapi.json`]);
const ASSET = "/docs/static/swagger-ui-bundle.js";

const inside = (environment: string) =>
  startWorld({
    env: {
      BINNACLE_ROLES: "api",
      BINNACLE_ENVIRONMENT: environment,
      BINNACLE_ADMIN_EMAIL: "root@example.com",
      BINNACLE_PUBLIC_URL: "https://binnacle.example.com",
      BINNACLE_ADMIN_PASSWORD: "correct horse battery staple",
    },
  });

/** The status of a page for the bearer of a token. */
async function statusOf(world: World, path: string, token?: string): Promise<number> {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  return (await fetch(world.url + path, { headers })).status;
}

/** Runs the script of the page, and returns what it configures Swagger UI with. */
async function pageConfig(world: World): Promise<object> {
  const script = await (await fetch(`${world.url}/docs/static/swagger-initializer.js`)).text();
  const SwaggerUIBundle = Object.assign(
    vi.fn(() => ({ initOAuth: () => undefined })),
    { presets: {}, plugins: { DownloadUrl: () => ({}) } },
  );
  const element = { querySelector: () => null, createElement: () => ({}), body: {} };
  const window = { location: { href: `${world.url}/docs` }, onload: () => undefined };
  const MutationObserver = class {
    observe = () => undefined;
  };
  runInNewContext(script, {
    window,
    document: element,
    SwaggerUIBundle,
    SwaggerUIStandalonePreset: {},
    MutationObserver,
  });
  window.onload();
  return (SwaggerUIBundle.mock.lastCall as unknown as [object])[0];
}

describe("in local", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  });
  afterAll(() => world.stop());

  test.each(PAGES)("[OA9] in local %s is open to anyone", async (path) => {
    expect(await statusOf(world, path)).toBe(200);
  });

  test.each(BASES)(
    "[OA13] the document at %s/openapi.json is the one that is written from the routes",
    async (base) => {
      const served = (await (await fetch(`${world.url}${base}/openapi.json`)).json()) as { servers: [{ url: string }] };
      const serverUrl = served.servers[0].url;
      expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument(describedRoutes(), { serverUrl }))));
      expect(serverUrl).toMatch(/\/api\/v1$/);
    },
  );

  test.each(["/docs", "/docs/", "/api/v1/docs", "/api/v1/docs/"])("[OA10] the page %s works", async (path) => {
    const page = await fetch(world.url + path);
    const policy = page.headers.get("content-security-policy") ?? "";
    const directive = (name: string) => policy.split(";").find((part) => part.startsWith(`${name} `)) ?? "";
    expect(directive("script-src")).toBe("script-src 'self'");
    expect(directive("style-src")).toContain("'self'");
    expect(directive("img-src")).toContain("data:");
    expect(policy).not.toMatch(/connect-src|upgrade-insecure-requests/);

    const html = await page.text();
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => new URL(link, page.url));
    expect(assets.length).toBeGreaterThanOrEqual(6);
    expect(html).not.toMatch(/<script(?![^>]*src=)/);
    for (const asset of assets) {
      const answer = await fetch(asset);
      expect([asset.origin, asset.href, answer.status]).toEqual([world.url, asset.href, 200]);
      if (asset.href.endsWith("swagger-initializer.js")) expect(await answer.text()).toContain("resolveUrl('./json')");
    }
    const shown = await fetch(`${world.url}${path.replace(/\/$/, "")}/json`);
    expect(await shown.json()).toEqual(await (await fetch(`${world.url}/openapi.json`)).json());
  });

  test("[OA20] the documentation page has a title and a favicon of its own, a filter, and keeps no token in the browser", async () => {
    const html = await (await fetch(`${world.url}/docs`)).text();
    expect(html).toContain("<title>Binnacle API</title>");
    const icons = [...html.matchAll(/<link rel="icon"[^>]*href="([^"]+)"/g)].map(([, link]) => link);
    expect(icons).toEqual(["/docs/static/theme/binnacle.svg"]);
    const icon = await fetch(world.url + icons[0]);
    expect([icon.headers.get("content-type"), await icon.text()]).toEqual([
      "image/svg+xml",
      expect.stringMatching(/^<svg/),
    ]);
    expect(await pageConfig(world)).toMatchObject({ filter: true, persistAuthorization: false });
  });

  test("[OA21] signing in as the documentation page does, by the flow in the document, gives a token", async () => {
    const document = (await (await fetch(`${world.url}/openapi.json`)).json()) as {
      components: { securitySchemes: { user: { type: string; flows: { password: { tokenUrl: string } } } } };
    };
    const { type, flows } = document.components.securitySchemes.user;
    expect(type).toBe("oauth2");
    const answer = await fetch(new URL(flows.password.tokenUrl, world.url), {
      method: "POST",
      // Swagger UI sends the credentials of a client, which are empty.
      headers: { authorization: `Basic ${btoa(":")}`, "x-requested-with": "XMLHttpRequest" },
      body: new URLSearchParams({ grant_type: "password", scope: "", username: "admin", password: "binnacle" }),
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    expect(await statusOf(world, "/api/v1/user/me", access_token)).toBe(200);
  });

  test.each(["/docs/static/..%2f..%2fpackage.json", "/docs/static/none.js", "/docs/static/"])(
    "[ER2] the path %s is a 404 and not a server error",
    async (path) => {
      const answer = await fetch(world.url + path);
      expect([answer.status, await answer.json()]).toEqual([404, { detail: "Not Found" }]);
    },
  );
});

describe("in staging", () => {
  let world: World;
  let cliToken: string;
  beforeAll(async () => {
    world = await inside("staging");
    const api: Client = world.admin.api;
    cliToken = (await api.post("/cli-tokens", { name: "x", scopes: ["bundles:read"] })).body.token;
  });
  afterAll(() => world.stop());

  test.each(PAGES)("[OA9] in staging %s is for superusers alone", async (path) => {
    const person = await world.person();
    expect(await statusOf(world, path)).toBe(401);
    expect(await statusOf(world, path, "nonsense")).toBe(401);
    expect(await statusOf(world, path, person.token)).toBe(403);
    expect(await statusOf(world, path, cliToken)).toBe(403);
    expect(await statusOf(world, path, world.admin.token)).toBe(200);
  });

  test.each(BASES)(
    "[OA53] in staging a browser gets a page at %s/docs that asks for a password and holds nothing of the document",
    async (base) => {
      const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
      for (const path of [`${base}/docs`, `${base}/docs/`]) {
        const page = await fetch(world.url + path, { headers });
        const html = await page.text();
        expect([page.status, html]).toEqual([200, expect.stringContaining('type="password"')]);
        const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => new URL(link, page.url));
        const texts = await Promise.all(assets.map(async (asset) => (await fetch(asset)).text()));
        expect(assets.length).toBeGreaterThanOrEqual(6);
        for (const answered of [html, ...texts])
          expect(answered).not.toMatch(/listClusters|\/clusters|stack-templates|bnc_/);
      }
      expect((await fetch(`${world.url}${base}/openapi.json`, { headers })).status).toBe(401);
      expect((await fetch(`${world.url}${base}/docs/json`, { headers })).status).toBe(401);
      const stale = { ...headers, authorization: "Bearer nonsense" };
      expect((await fetch(`${world.url}${base}/docs`, { headers: stale })).status).toBe(401);
    },
  );
});

describe("in production", () => {
  let world: World;
  beforeAll(async () => {
    world = await inside("production");
  });
  afterAll(() => world.stop());

  test.each([...PAGES, "/docs/sign-in.js", ASSET])("[OA9] in production %s is a 404 for everybody", async (path) => {
    expect(await statusOf(world, path)).toBe(404);
    expect(await statusOf(world, path, world.admin.token)).toBe(404);
  });
});

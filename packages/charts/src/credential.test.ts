import type { RequestListener } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { basicOf, folder, lockedFolder, ociRegistry, packedChart, serve, type WebServer } from "./chart.fixture.ts";
import { ChartUnknown, ChartUnusable } from "./chart-source.ts";
import { canonicalRepositoryUrl, credentialFor, type RepositoryCredential } from "./credential.ts";
import { createFetch, Unreachable } from "./fetch.adapter.ts";
import { pullChart } from "./pull.adapter.ts";

const web = packedChart("web", "1.2.0");
const login = { username: "robot", password: "s3cret-of-the-test" };
const INDEX = "entries:\n  web:\n  - { version: 1.2.0, urls: [web.tgz] }\n";
const indexWith = (url: string) => `entries:\n  web:\n  - { version: 1.2.0, urls: ["${url}"] }\n`;
const files = (index = INDEX) => ({ "/charts/index.yaml": index, "/charts/web.tgz": web.archive });

async function served(answer: RequestListener): Promise<WebServer> {
  const server = await serve(answer);
  onTestFinished(() => server.stop());
  return server;
}

const oci = ({ url }: WebServer, path = "") => `${url.replace(/^http:/, "oci:")}${path}`;
/** Every server of these tests is on this machine. */
const fetch = createFetch({ allowedHosts: ["127.0.0.1"] });
const pull = (repo: string, ...urls: string[]) =>
  pullChart(fetch, { repo, name: "web" }, { credentials: urls.map((url) => ({ url, ...login })) });

describe("the credential for an address", () => {
  const named = (...urls: string[]): RepositoryCredential[] => urls.map((url) => ({ url, ...login }));

  test.each([
    ["is the one it is below", "https://h.test/a/charts", ["https://h.test/a"], "https://h.test/a"],
    ["may be its own", "https://h.test/a", ["https://h.test/a/"], "https://h.test/a/"],
    ["may be that of the whole host", "https://h.test/a", ["https://h.test"], "https://h.test"],
    [
      "is the nearest one",
      "oci://h.test/a/b/c",
      ["oci://h.test/a", "oci://h.test/a/b", "oci://h.test"],
      "oci://h.test/a/b",
    ],
    ["knows the port that goes without saying", "https://h.test:443/a", ["https://H.test/a"], "https://H.test/a"],
  ])("[CS6] the credential for an address %s", (_, address, urls, expected) => {
    expect(credentialFor(named(...urls), address)?.url).toBe(expected);
  });

  test.each([
    ["of a name that begins alike", "https://h.test/acme-evil/x", "https://h.test/acme"],
    ["of a host that begins alike", "https://h.test.evil.test/acme", "https://h.test"],
    ["of a host within", "https://sub.h.test/", "https://h.test"],
    ["of another port", "https://h.test:8443/a", "https://h.test/a"],
    ["of another scheme", "http://h.test/a", "https://h.test/a"],
    ["of a registry, where a web folder is meant", "oci://h.test/a", "https://h.test/a"],
    ["of a folder that is left again", "https://h.test/acme/../other", "https://h.test/acme"],
    ["of a folder that is left in disguise", "https://h.test/acme/%2e%2e/other", "https://h.test/acme"],
    ["of a folder that a server may leave", "https://h.test/acme/..%2fother", "https://h.test/acme"],
    ["of a host that only looks like it", "https://h.test@evil.test/", "https://h.test"],
  ])("[CS6] the credential for an address is never the one %s", (_, address, url) => {
    expect(credentialFor(named(url), address)).toBeNull();
  });

  test.each([
    ["HTTPS://H.Test:443/a//", "https://h.test/a"],
    ["oci://H.test/Acme/", "oci://h.test/Acme"],
    ["https://h.test", "https://h.test"],
    ["https://user@h.test/", null],
    ["https://h.test/?token=x", null],
    ["ftp://h.test", null],
  ])("[CH1] a credential for the repository %s is stored under %s", (given, stored) => {
    expect(canonicalRepositoryUrl(given)).toBe(stored);
  });
});

describe("a private repository", () => {
  test("[CS9] a private repository is read with the credential that is stored for it, and not without", async () => {
    const server = await served(lockedFolder(login, files()));
    expect((await pull(`${server.url}/charts`, server.url)).archive).toEqual(web.archive);
    await expect(pull(`${server.url}/charts`)).rejects.toThrow(ChartUnusable);
    await expect(pull(`${server.url}/charts`, `${server.url}/other`)).rejects.toThrow(ChartUnusable);
  });

  test("[CS7] a redirect of a private repository to another host does not take the credential there", async () => {
    const elsewhere = await served(folder(files()));
    const server = await served((request, response) => {
      if (request.headers.authorization !== basicOf(login)) return response.writeHead(401).end();
      return response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end();
    });
    expect((await pull(`${server.url}/charts`, server.url)).archive).toEqual(web.archive);
    expect(elsewhere.asked).toEqual(["/charts/index.yaml", "/charts/web.tgz"]);
    expect(elsewhere.presented.filter(Boolean)).toEqual([]);
  });

  test("[CS7] an archive that a private index has at another host is fetched without the credential", async () => {
    const elsewhere = await served(folder({ "/web.tgz": web.archive }));
    const server = await served(lockedFolder(login, files(indexWith(`${elsewhere.url}/web.tgz`))));
    expect((await pull(`${server.url}/charts`, server.url)).archive).toEqual(web.archive);
    expect(elsewhere.presented).toEqual([""]);
  });

  test("[CS9] a private repository may keep its archives in a registry that has a credential of its own", async () => {
    const registry = await served(ociRegistry({ tags: { "1.2.0": web }, login }));
    const server = await served(folder(files(indexWith(`${oci(registry)}/charts/web:1.2.0`))));
    expect((await pull(`${server.url}/charts`, oci(registry))).archive).toEqual(web.archive);
    await expect(pull(`${server.url}/charts`, server.url)).rejects.toThrow(ChartUnknown);
    expect(server.presented.slice(0, 1)).toEqual([""]);
  });
});

describe("a private registry", () => {
  test.each([true, false])(
    "[CS9] a private registry is read with the credential that is stored for it, and not without (basic: %s)",
    async (isBasic) => {
      const registry = await served(ociRegistry({ tags: { "1.2.0": web }, login, isBasic }));
      expect((await pull(oci(registry, "/charts"), oci(registry, "/charts"))).archive).toEqual(web.archive);
      await expect(pull(oci(registry, "/charts"))).rejects.toThrow(ChartUnknown);
      await expect(pull(oci(registry, "/charts"), oci(registry, "/other"))).rejects.toThrow(ChartUnknown);
    },
  );

  test("[CS8] a token service at another host gets no credential, unless one is stored for that host too", async () => {
    const tokens = await served(ociRegistry({ tags: {}, login }));
    const registry = await served(ociRegistry({ tags: { "1.2.0": web }, login, realm: `${tokens.url}/token` }));
    await expect(pull(oci(registry, "/charts"), oci(registry))).rejects.toThrow(ChartUnusable);
    expect(tokens.asked).toEqual([]);
    expect((await pull(oci(registry, "/charts"), oci(registry), `${tokens.url}/token`)).archive).toEqual(web.archive);
  });

  test("[CS8] a registry gets no token that is made with the credential of another host", async () => {
    const tokens = await served(ociRegistry({ tags: {}, login }));
    const stranger = await served(ociRegistry({ tags: { "1.2.0": web }, realm: `${tokens.url}/token` }));
    await expect(pull(oci(stranger, "/charts"), `${tokens.url}/token`, oci(tokens))).rejects.toThrow(ChartUnknown);
    expect(tokens.presented).toEqual([""]);
    expect(stranger.presented).toEqual([""]);
  });

  test("[CS7] a page of tags at another host is not fetched with the registry's authorization", async () => {
    const thief = await served((_request, response) => response.end('{"tags":["1.2.0"]}'));
    const registry = await served((request, response) => {
      if (request.headers.authorization === undefined) {
        return response.writeHead(401, { "www-authenticate": 'Basic realm="r"' }).end();
      }
      return response.writeHead(200, { link: `<${thief.url}/v2/next>; rel="next"` }).end('{"tags":[]}');
    });
    await expect(pull(oci(registry, "/charts"), oci(registry))).rejects.toThrow(Unreachable);
    expect(thief.asked).toEqual([]);
  });
});

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AddressRefused, createFetch, Unreachable } from "./fetch.adapter.ts";

let server: Server;
let port: number;
let answer: RequestListener;

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

const HERE = { address: "127.0.0.1", family: 4 };
const limits = { maxBytes: 1000 };
/** Names that are allowed are answered by the server of this test. */
const here = (timeoutMs = 5000) =>
  createFetch({ allowedHosts: ["here.test", "there.test"], timeoutMs, resolve: async () => [HERE] });
const url = (path = "/", host = "here.test") => `http://${host}:${port}${path}`;

describe("an address that is not public", () => {
  test.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0/",
  ])("[OB1] the address %s, which is not public, is refused", async (address) => {
    const fetch = createFetch({ allowedHosts: [] });
    await expect(fetch(address, limits)).rejects.toThrow(new AddressRefused("The address is not a public one"));
  });

  test("[OB1] an address that is not public is refused behind a name, also where the name has a public one beside it", async () => {
    const resolve = async () => [{ address: "1.1.1.1", family: 4 }, HERE];
    const fetch = createFetch({ allowedHosts: [], resolve });
    await expect(fetch("http://two-faced.test/", limits)).rejects.toThrow(AddressRefused);
  });

  test("[OB2] an address that is not public is reached where its host is allowed", async () => {
    answer = (_request, response) => response.end("hello");
    expect(await here()(url(), limits)).toMatchObject({ status: 200, body: Buffer.from("hello"), url: url() });
  });

  test("[OB3] an address that is not public is refused in a redirect, also in one from an allowed host", async () => {
    let asked = 0;
    answer = (_request, response) => {
      asked++;
      response.writeHead(302, { location: `http://127.0.0.1:${port}/secret` }).end();
    };
    await expect(here()(url(), limits)).rejects.toThrow(AddressRefused);
    expect(asked).toBe(1);
  });

  test("[OB10] a request that changes something has its body sent once, and a redirect is its answer", async () => {
    const seen: string[] = [];
    answer = (request, response) => {
      request.on("data", (chunk: Buffer) => seen.push(`${request.method} ${chunk.toString()}`));
      request.on("end", () => response.writeHead(307, { location: url("/other") }).end());
    };
    const sent = await here()(url(), { ...limits, method: "POST", body: "change" });
    expect(sent.status).toBe(307);
    expect(seen).toEqual(["POST change"]);
  });

  test("[OB4] a name is resolved once, and the connection goes to the address that was checked", async () => {
    const answers = [[HERE], [{ address: "192.0.2.1", family: 4 }]];
    let looked = 0;
    const resolve = async () => answers[looked++] ?? [];
    answer = (_request, response) => response.end("checked");
    const fetch = createFetch({ allowedHosts: ["here.test"], resolve });
    expect((await fetch(url(), limits)).body.toString()).toBe("checked");
    expect(looked).toBe(1);
  });
});

describe("plain HTTP", () => {
  test("[OB9] plain HTTP is spoken with hosts on the allow-list and with no other, also after a redirect", async () => {
    const resolve = async () => [{ address: "1.1.1.1", family: 4 }];
    const fetch = createFetch({ allowedHosts: [], resolve });
    await expect(fetch("http://charts.test/", limits)).rejects.toThrow(AddressRefused);
    answer = (_request, response) => response.writeHead(302, { location: "http://charts.test/" }).end();
    await expect(here()(url(), limits)).rejects.toThrow(AddressRefused);
  });
});

describe("an address that is not on the web", () => {
  test.each(["ftp://here.test/", "file:///etc/passwd", "gopher://here.test", "no address", "//here.test"])(
    "[OB5] the address %s, which is not HTTP or HTTPS, is refused",
    async (address) => {
      await expect(here()(address, limits)).rejects.toThrow(AddressRefused);
    },
  );

  test("[OB5] an address with a password in it is refused", async () => {
    await expect(here()(`http://a:b@here.test:${port}/`, limits)).rejects.toThrow(AddressRefused);
  });
});

describe("an answer", () => {
  test("[OB6] an answer of more bytes than the limit is not read, whether or not it says how many", async () => {
    answer = (_request, response) => response.end("x".repeat(1001));
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("its answer is too large"));
    answer = (_request, response) => {
      response.write("x".repeat(600));
      response.end("x".repeat(600));
    };
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("its answer is too large"));
  });

  test("[OB6] an answer that is compressed is not unpacked", async () => {
    answer = (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("x");
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("its answer is compressed"));
  });

  test("[OB7] an answer that does not come in time is not waited for", async () => {
    answer = () => undefined;
    await expect(here(50)(url(), limits)).rejects.toThrow(new Unreachable("it did not answer in time"));
    server.closeAllConnections();
  });

  test("[OB7] an answer that is interrupted is reported as a failure of the other side", async () => {
    answer = (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setImmediate(() => response.destroy());
    };
    await expect(here()(url(), limits)).rejects.toThrow(Unreachable);
  });

  test("[OB7] a name without an address and a refused connection are reported as failures of the other side", async () => {
    const fetch = createFetch({ allowedHosts: ["gone.test"], resolve: async () => [] });
    await expect(fetch("http://gone.test/", limits)).rejects.toThrow(new Unreachable("its name cannot be resolved"));
    await expect(here()("http://here.test:1/", limits)).rejects.toThrow(
      new Unreachable("the connection failed (ECONNREFUSED)"),
    );
  });

  test("[OB3] a redirect is followed, and a circle of redirects is not", async () => {
    answer = (request, response) => {
      if (request.url === "/end") response.end("there");
      else response.writeHead(307, { location: "/end" }).end();
    };
    expect(await here()(url("/start"), limits)).toMatchObject({ status: 200, url: url("/end") });
    answer = (_request, response) => response.writeHead(302, { location: "/again" }).end();
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("it redirects too often"));
  });

  test("[OB8] a redirect to another host takes no credential there", async () => {
    const seen: (string | undefined)[] = [];
    answer = (request, response) => {
      seen.push(request.headers.authorization);
      if (request.url === "/end") response.end();
      else response.writeHead(302, { location: url("/end", "there.test") }).end();
    };
    await here()(url(), { ...limits, headers: { Authorization: "Bearer secret" } });
    expect(seen).toEqual(["Bearer secret", undefined]);
  });

  test("[OB8] a redirect to another host takes no header of the caller there but the one that says what is accepted", async () => {
    const seen: Record<string, unknown>[] = [];
    answer = (request, response) => {
      seen.push(request.headers);
      if (request.url === "/end") response.end();
      else response.writeHead(302, { location: url("/end", "there.test") }).end();
    };
    await here()(url(), {
      ...limits,
      headers: { accept: "text/plain", "private-token": "secret", "X-Auth": "secret" },
    });
    expect(seen[0]).toMatchObject({ accept: "text/plain", "private-token": "secret", "x-auth": "secret" });
    expect(seen[1]).toMatchObject({ accept: "text/plain" });
    expect(JSON.stringify(seen[1])).not.toContain("secret");
  });

  test("[OB10] a redirect is the answer to a request that is to stay at its address", async () => {
    let asked = 0;
    answer = (_request, response) => {
      asked++;
      response.writeHead(302, { location: url("/other") }).end();
    };
    expect(await here()(url(), { ...limits, staysAtAddress: true })).toMatchObject({ status: 302, url: url() });
    expect(asked).toBe(1);
  });
});

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
  ])("[OB1] %s is refused", async (address) => {
    const fetch = createFetch({ allowedHosts: [] });
    await expect(fetch(address, limits)).rejects.toThrow(new AddressRefused("The address is not a public one"));
  });

  test("[OB1] is refused behind a name, also where the name has a public one beside it", async () => {
    const resolve = async () => [{ address: "1.1.1.1", family: 4 }, HERE];
    const fetch = createFetch({ allowedHosts: [], resolve });
    await expect(fetch("http://two-faced.test/", limits)).rejects.toThrow(AddressRefused);
  });

  test("[OB2] is reached where its host is allowed", async () => {
    answer = (_request, response) => response.end("hello");
    expect(await here()(url(), limits)).toMatchObject({ status: 200, body: Buffer.from("hello"), url: url() });
  });

  test("[OB3] is refused in a redirect, and where the redirect was sent from does not matter", async () => {
    let asked = 0;
    answer = (_request, response) => {
      asked++;
      response.writeHead(302, { location: `http://127.0.0.1:${port}/secret` }).end();
    };
    await expect(here()(url(), limits)).rejects.toThrow(AddressRefused);
    expect(asked).toBe(1);
  });

  test("[OB4] is not reached by a name that changes its mind: what is connected to is what was checked", async () => {
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
  test("[OB9] is spoken with hosts on the allow-list and with no other, also after a redirect", async () => {
    const resolve = async () => [{ address: "1.1.1.1", family: 4 }];
    const fetch = createFetch({ allowedHosts: [], resolve });
    await expect(fetch("http://charts.test/", limits)).rejects.toThrow(AddressRefused);
    answer = (_request, response) => response.writeHead(302, { location: "http://charts.test/" }).end();
    await expect(here()(url(), limits)).rejects.toThrow(AddressRefused);
  });
});

describe("an address that is none of the web's", () => {
  test.each(["ftp://here.test/", "file:///etc/passwd", "gopher://here.test", "no address", "//here.test"])(
    "[OB5] %s is refused",
    async (address) => {
      await expect(here()(address, limits)).rejects.toThrow(AddressRefused);
    },
  );

  test("[OB5] with a password in it is refused", async () => {
    await expect(here()(`http://a:b@here.test:${port}/`, limits)).rejects.toThrow(AddressRefused);
  });
});

describe("an answer", () => {
  test("[OB6] of more bytes than wanted is not read, whether or not it says how many", async () => {
    answer = (_request, response) => response.end("x".repeat(1001));
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("its answer is too large"));
    answer = (_request, response) => {
      response.write("x".repeat(600));
      response.end("x".repeat(600));
    };
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("its answer is too large"));
  });

  test("[OB6] that is compressed is not unpacked", async () => {
    answer = (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("x");
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("its answer is compressed"));
  });

  test("[OB7] that does not come in time is not waited for", async () => {
    answer = () => undefined;
    await expect(here(50)(url(), limits)).rejects.toThrow(new Unreachable("it did not answer in time"));
    server.closeAllConnections();
  });

  test("[OB7] that breaks off is a failure of the other side", async () => {
    answer = (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setImmediate(() => response.destroy());
    };
    await expect(here()(url(), limits)).rejects.toThrow(Unreachable);
  });

  test("[OB7] from nobody is a failure of the other side", async () => {
    const fetch = createFetch({ allowedHosts: ["gone.test"], resolve: async () => [] });
    await expect(fetch("http://gone.test/", limits)).rejects.toThrow(new Unreachable("its name cannot be resolved"));
    await expect(here()("http://here.test:1/", limits)).rejects.toThrow(
      new Unreachable("the connection failed (ECONNREFUSED)"),
    );
  });

  test("[OB3] that redirects is followed, and a circle is not", async () => {
    answer = (request, response) => {
      if (request.url === "/end") response.end("there");
      else response.writeHead(307, { location: "/end" }).end();
    };
    expect(await here()(url("/start"), limits)).toMatchObject({ status: 200, url: url("/end") });
    answer = (_request, response) => response.writeHead(302, { location: "/again" }).end();
    await expect(here()(url(), limits)).rejects.toThrow(new Unreachable("it redirects too often"));
  });

  test("[OB8] that redirects to another host takes no credential there", async () => {
    const seen: (string | undefined)[] = [];
    answer = (request, response) => {
      seen.push(request.headers.authorization);
      if (request.url === "/end") response.end();
      else response.writeHead(302, { location: url("/end", "there.test") }).end();
    };
    await here()(url(), { ...limits, headers: { Authorization: "Bearer secret" } });
    expect(seen).toEqual(["Bearer secret", undefined]);
  });
});

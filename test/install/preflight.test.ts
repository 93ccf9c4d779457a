import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { machine } from "../../packages/cli/src/host.fixture.ts";
import { openImageStore } from "../../packages/server/src/images/image-store.adapter.ts";
import { registerImages } from "../../packages/server/src/images/registry.routes.ts";
import { trustPlain } from "./installation.ts";
import { BIN, HOST, IMAGES, KUBE } from "./node.ts";

/** What the machine of a person has: kubectl with access to the node, and a control plane that names this image. */
function machineFor(image: string) {
  const on = machine({ BINNACLE_URL: "https://binnacle.example.com", BINNACLE_TOKEN: "bnc_any" });
  on.fetch = async (request) =>
    String(request instanceof Request ? request.url : request).endsWith("/install-instructions")
      ? Response.json({ operator_image: image })
      : Response.json({ detail: "Not found." }, { status: 404 });
  on.kubectl = (args, input) =>
    new Promise((resolve) => {
      const child = execFile(join(BIN, "kubectl"), args, { env: KUBE }, (error, out, err) =>
        resolve({ code: error ? 1 : 0, out, err }),
      );
      child.stdin?.end(input);
    });
  on.onSleep = () => new Promise((resolve) => setTimeout(resolve, 200));
  return on;
}

const CLUSTER = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

async function preflight(registry: string) {
  const on = machineFor(`${registry}/binnacle/operator:0.1.0`);
  const ran = await on.run("clusters", "preflight", CLUSTER, "--yes", "--all-nodes", "-o", "json", "--timeout", "1h");
  return { code: ran.code, findings: JSON.parse(ran.out).findings };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, HOST);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `${HOST}:${(server.address() as AddressInfo).port}`;
}

/** A server with a certificate that nobody has signed. */
function tlsServer(subjectAltName: string): Server {
  const request = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-subj",
    "/CN=test",
  ];
  const pem = execFileSync("openssl", [...request, "-addext", `subjectAltName=${subjectAltName}`, "-keyout", "-"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return createTlsServer({ key: pem, cert: pem });
}

test("[IS2406] a preflight on a real node that can pull the operator's image has it run, and succeeds", async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  await registerImages(app, await openImageStore(IMAGES));
  await app.listen({ host: HOST, port: 0 });
  const registry = `${HOST}:${(app.server.address() as AddressInfo).port}`;
  trustPlain(registry);
  expect(await preflight(registry)).toMatchObject({ code: 0, findings: [{ node: "node-0", outcome: "pulled" }] });
});

const REGISTRIES: readonly (readonly [cause: string, start: () => Promise<string>])[] = [
  ["unresolved", async () => "registry.invalid"],
  ["refused", async () => `${HOST}:1`],
  ["plain_http", () => listening(createHttpServer((_, response) => response.end()))],
  ["untrusted", () => listening(tlsServer(`IP:${HOST}`))],
  ["wrong_name", () => listening(tlsServer("DNS:elsewhere.example.com"))],
];

test.each(REGISTRIES)(
  "[IS2407] a preflight finds the cause %s in what the containerd of a real node says",
  async (cause, start) => {
    const { code, findings } = await preflight(await start());
    expect(findings).toMatchObject([{ node: "node-0", outcome: "failed", cause }]);
    expect(code).toBe(1);
  },
);

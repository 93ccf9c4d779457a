import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as safeRequest } from "node:https";
import { text } from "node:stream/consumers";
import { kubeAccessFrom } from "@binnacle/operator/kubeconfig";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Asked, ask, pathIn } from "./ask.fixture.ts";
import { bareCluster } from "./bare-cluster.fixture.ts";
import { CASES } from "./conformance.fixture.ts";
import { essenceOf } from "./essence.fixture.ts";

const namespace = `test-${randomBytes(5).toString("hex")}`;
const access = await kubeAccessFrom({ KUBECONFIG: inject("kubeconfig") });
const identity = await access.identity();

async function askReal({ method = "GET", path, body, type = "application/json", accept }: Asked) {
  const url = new URL(path, access.server);
  const content = body === undefined ? "" : JSON.stringify(body);
  const options = {
    method,
    headers: {
      "content-type": type,
      "content-length": Buffer.byteLength(content),
      "user-agent": "tester/1",
      ...(accept === undefined ? {} : { accept }),
      ...(identity.token ? { authorization: `Bearer ${identity.token}` } : {}),
    },
    rejectUnauthorized: !access.isInsecure,
    ...(access.ca ? { ca: access.ca } : {}),
    ...(identity.certificate && identity.key ? { cert: identity.certificate, key: identity.key } : {}),
  };
  const sent = (url.protocol === "https:" ? safeRequest : plainRequest)(url, options);
  sent.end(content);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const received = await text(answer);
  const isJson = answer.headers["content-type"]?.startsWith("application/json");
  return { status: answer.statusCode ?? 0, answer: isJson ? (JSON.parse(received) as unknown) : received };
}

/** Two clusters that begin alike. */
const { handler, store } = bareCluster();
beforeAll(async () => {
  store.create("namespaces", { metadata: { name: namespace } });
  await askReal({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  const path = "/apis/storage.k8s.io/v1/storageclasses";
  const { answer } = await askReal({ path });
  for (const item of (
    answer as { items: { metadata: { name: string; annotations?: Record<string, string> }; provisioner: string }[] }
  ).items) {
    const { name, annotations = {} } = item.metadata;
    store.create("storageclasses.storage.k8s.io", { metadata: { name, annotations }, provisioner: item.provisioner });
  }
});
afterAll(() => askReal({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` }));

test.each(CASES)("[SA60] $title is answered as a real API server does", async ({ path, ...request }) => {
  const asked = { ...request, path: pathIn(namespace, path) };
  const real = await askReal(asked);
  const simulated = ask(handler, asked);
  expect(essenceOf(simulated.status, simulated.answer)).toEqual(essenceOf(real.status, real.answer));
});

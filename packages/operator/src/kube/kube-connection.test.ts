import { expect, test } from "vitest";
import { createKubeClient } from "./client.adapter.ts";
import type { KubeAccess, KubeAnswer, SentRequest } from "./kube-access.ts";
import type { ResourceType } from "./kube-client.ts";

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

function answer(statusCode: number, value: unknown): KubeAnswer {
  const text = JSON.stringify(value);
  const chunks = async function* () {
    yield Buffer.from(`${text}\n`);
  };
  const body = { [Symbol.asyncIterator]: chunks, text: async () => text, dump: async () => undefined };
  return { statusCode, headers: { "content-type": "application/json" }, body };
}

function clientOver(request: (sent: SentRequest) => Promise<KubeAnswer>, access: Partial<KubeAccess> = {}) {
  return createKubeClient({
    server: "http://127.0.0.1:1/prefix",
    ca: null,
    isInsecure: false,
    serverName: null,
    namespace: null,
    identity: async () => ({ token: "t", certificate: null, key: null }),
    connection: { request },
    ...access,
  });
}

test("[KU18] a request goes over the connection that the access provides, as it would over a socket", async () => {
  const sent: SentRequest[] = [];
  const client = clientOver(async (request) => {
    sent.push(request);
    return answer(200, { kind: "Pod" });
  });
  expect(await client.patch(PODS, "a", "ns", { x: 1 }, { kind: "merge" })).toEqual({ kind: "Pod" });
  expect(sent[0]).toMatchObject({
    method: "PATCH",
    path: "/prefix/api/v1/namespaces/ns/pods/a?fieldManager=binnacle",
    headers: { authorization: "Bearer t", "content-type": "application/merge-patch+json" },
    body: '{"x":1}',
  });
  await client.close();
});

test("[KU18] refusals and failures of a provided connection are reported as those of a socket", async () => {
  const refusing = clientOver(async () => answer(409, { kind: "Status", reason: "AlreadyExists", message: "no" }));
  await expect(refusing.raw("POST", "/x")).rejects.toMatchObject({ status: 409, reason: "AlreadyExists" });
  const failing = clientOver(() => Promise.reject(new Error("gone")));
  await expect(failing.raw("GET", "/x")).rejects.toMatchObject({ status: 0, reason: "Unreachable" });
});

test("[KU18] a request refused with 401 is repeated once over the provided connection with a new identity", async () => {
  let asked = 0;
  const identity: KubeAccess["identity"] = async ({ isRefused = false } = {}) => ({
    token: isRefused ? "new" : "old",
    certificate: null,
    key: null,
  });
  const client = clientOver(
    async ({ headers }) => {
      asked += 1;
      return headers["authorization"] === "Bearer new" ? answer(200, { ok: true }) : answer(401, {});
    },
    { identity },
  );
  expect(await client.raw("GET", "/x")).toEqual({ ok: true });
  expect(asked).toBe(2);
});

test("[KU18] a watch reads from a provided connection until it ends", async () => {
  const event = { type: "ADDED", object: { kind: "Pod", metadata: { name: "a", resourceVersion: "1" } } };
  const client = clientOver(async () => answer(200, event));
  const seen: unknown[] = [];
  const { signal } = new AbortController();
  for await (const one of client.watch(PODS, { signal, resourceVersion: "0" })) seen.push(one);
  expect(seen).toMatchObject([{ type: "ADDED", object: { metadata: { name: "a" } } }]);
});

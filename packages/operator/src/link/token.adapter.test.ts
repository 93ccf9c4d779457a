import { expect, test, vi } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { createMemoryTokenStore, createSecretTokenStore } from "./token.adapter.ts";

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

function secretWith(token: string | null): KubeObject | null {
  const data = token === null ? {} : { token: Buffer.from(token).toString("base64") };
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "t" }, data };
}

function kept(secret: KubeObject | null) {
  const kube = { get: vi.fn(async () => secret), patch: vi.fn(async () => secret) };
  const store = createSecretTokenStore("first", { kube: kube as never, namespace: "ns", name: "t" }, log);
  return { kube, store };
}

test("[OL17] a renewed token goes into the Secret's key and is used from then on", async () => {
  const { kube, store } = kept(null);
  expect(await store.current()).toBe("first");
  await store.store("second");
  const patch = { data: { token: Buffer.from("second").toString("base64") } };
  expect(kube.patch).toHaveBeenCalledWith(expect.objectContaining({ kind: "Secret" }), "t", "ns", patch, {
    kind: "merge",
  });
  expect(await store.current()).toBe("second");
});

test("[OL17] a token that could not be written to the Secret is not used", async () => {
  const { kube, store } = kept(null);
  kube.patch.mockRejectedValueOnce(new Error("forbidden"));
  await expect(store.store("second")).rejects.toThrow("forbidden");
  expect(await store.current()).toBe("first");
});

test.each([
  ["a new one", secretWith("new\n"), "new"],
  ["none", secretWith(null), "first"],
  ["no Secret", null, "first"],
])("[OL16] after a refusal the token is read from the Secret, where there is %s", async (_, secret, expected) => {
  const { kube, store } = kept(secret);
  await store.current();
  expect(kube.get).not.toHaveBeenCalled();
  expect(await store.current({ isRefused: true })).toBe(expected);
  expect(await store.current()).toBe(expected);
});

test("[OL16] after a refusal the token stays where the Secret cannot be read", async () => {
  const { kube, store } = kept(null);
  kube.get.mockRejectedValueOnce(new Error("away"));
  expect(await store.current({ isRefused: true })).toBe("first");
});

test("[OL17] without a Secret the renewed token lasts as long as the process, and a warning says so", async () => {
  const store = createMemoryTokenStore("first", log);
  log.warn.mockClear();
  await store.store("second");
  expect(await store.current({ isRefused: true })).toBe("second");
  expect(log.warn).toHaveBeenCalledOnce();
  expect(JSON.stringify(log.warn.mock.calls)).not.toContain("second");
});

import { expect, test, vi } from "vitest";
import type { ReleasePods } from "../helm/release-pods.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { podsOfRelease } from "./pod-selection.ts";

const pod = (name: string, uid = name): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "market", uid },
});
const having = (...names: string[]): ReleasePods => ({
  release: "db",
  makers: names.map((name) => ({ kind: "Pod", name, selector: null })),
});

test("[TE12] Helm's record is read again for an unknown pod, once for each", async () => {
  const read = vi.fn(async (): Promise<ReleasePods | null> => having("a"));
  const selection = podsOfRelease(read);
  expect(await selection.among([pod("a"), pod("stranger")])).toEqual([pod("a")]);
  expect(await Promise.all(["a", "stranger"].map((name) => selection.isMeant(pod(name))))).toEqual([true, false]);
  expect(read).toHaveBeenCalledOnce();

  read.mockResolvedValue(having("a", "b", "c"));
  expect(await selection.isMeant(pod("b"))).toBe(true);
  expect(await selection.isMeant(pod("c"))).toBe(true);
  expect(read).toHaveBeenCalledTimes(2);
});

test("[TE12] a pod of a release stays so until it is deleted, and a new pod with its name is looked up again", async () => {
  const read = vi.fn(async (): Promise<ReleasePods | null> => having("a"));
  const selection = podsOfRelease(read);
  await selection.among([pod("a")]);
  read.mockResolvedValue(null);
  await selection.isMeant(pod("other"));
  expect(await selection.isMeant(pod("a"))).toBe(true);
  selection.forget("market/a");
  expect(await selection.isMeant(pod("a"))).toBe(false);
  read.mockResolvedValue(having("a"));
  expect(await selection.isMeant(pod("a", "second"))).toBe(true);
});

test("[TE12] a pod whose release could not be read is decided later", async () => {
  const read = vi.fn(async (): Promise<ReleasePods | null> => having());
  const selection = podsOfRelease(read);
  await selection.among([]);
  read.mockRejectedValueOnce(new Error("away"));
  await expect(selection.isMeant(pod("a"))).rejects.toThrow("away");
  read.mockResolvedValue(having("a"));
  expect(await selection.isMeant(pod("a"))).toBe(true);
});

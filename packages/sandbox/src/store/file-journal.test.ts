import { appendFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileJournal } from "./file-journal.adapter.ts";
import type { KubeObject } from "./kube-object.ts";
import { ObjectTable } from "./object-table.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandbox-journal-"));
});
afterEach(() => rm(folder, { recursive: true }));

const pathOf = () => join(folder, "deep", "cluster.jsonl");
const open = () => new ObjectTable({ journal: fileJournal(pathOf()) });
const object = (name: string, value: number): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  value,
});

test("[SA13] a restart finds every object as it was, and goes on with newer versions", async () => {
  const first = open();
  for (let value = 0; value < 50; value++) first.put("configmaps", object("a", value));
  first.put("secrets", object("s", 1));
  const gone = first.remove("configmaps", first.put("configmaps", object("b", 1)));
  await first.settled();
  const second = open();
  expect(second.list("configmaps")).toEqual(first.list("configmaps"));
  expect(second.get("secrets", "s")).toEqual(first.get("secrets", "s"));
  expect(second.version).toBe(Number(gone.metadata.resourceVersion));
  expect(second.changesSince(second.version - 1)).toBeNull();
});

test("[SA13] the file does not keep objects that were overwritten", async () => {
  const first = open();
  for (let value = 0; value < 500; value++) first.put("configmaps", object("a", value));
  await first.settled();
  const { size } = await stat(pathOf());
  open();
  expect((await stat(pathOf())).size).toBeLessThan(size / 100);
});

test("[SA13] the file is written anew when it has grown, and nothing is lost by that", async () => {
  const first = open();
  first.put("secrets", object("s", 1));
  for (let value = 0; value < 12_000; value++) {
    first.put("configmaps", object(`a${value % 3}`, value));
    if (value % 1_000 === 0) await first.settled();
  }
  await first.settled();
  expect((await readFile(pathOf(), "utf8")).split("\n").length).toBeLessThan(7_000);
  const second = open();
  expect(second.list("configmaps")).toEqual(first.list("configmaps"));
  expect(second.get("secrets", "s")).not.toBeNull();
});

test("[SA13] a line of the file that a crash has cut off is ignored", async () => {
  const first = open();
  first.put("configmaps", object("a", 1));
  await first.settled();
  await appendFile(pathOf(), '{"version":99,"resource":"configm');
  expect(open().list("configmaps")).toHaveLength(1);
});

test("[SA13] the file may be read by its owner alone", async () => {
  const first = open();
  first.put("secrets", object("s", 1));
  await first.settled();
  expect((await stat(pathOf())).mode & 0o077).toBe(0);
  expect(await readFile(pathOf(), "utf8")).toContain('"s"');
});

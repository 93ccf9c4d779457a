import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runBackup } from "./backup.command.ts";
import { type FakeStorage, startFakeStorage } from "./s3.fixture.ts";
import { load, removeOldest, storagePlaceOf, store } from "./storage.adapter.ts";

let folder: string;
let storage: FakeStorage;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-backups-"));
  storage = await startFakeStorage();
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await storage.stop();
});

/** Nothing that can be compressed, so that it is as many parts of 16 MiB as it seems. */
const LARGE = Array.from({ length: 20 }, () => randomBytes(1024 * 1024));
const SMALL = LARGE.slice(0, 1);
const S3 = "s3://backups/daily/one.gz";

/** A backup of two parts is small there. */
function placeOfSmallParts() {
  const place = storagePlaceOf(S3, storage.env);
  if (!("s3" in place)) throw new Error("It is not S3.");
  return { s3: { ...place.s3, partBytes: SMALL[0]?.length ?? 0 } };
}
const TWO_PARTS = LARGE.slice(0, 2);

async function* backupOf(chunks: readonly Buffer[], end: () => void = () => undefined): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield chunk;
  end();
}
const failing = (): never => {
  throw new Error("the database has gone");
};

test("[BK8] a backup that is larger than a part is one object of several parts, and comes back from there", async () => {
  const place = storagePlaceOf(S3, storage.env);
  await store(place, backupOf(LARGE));
  const sizes = storage.objects.get("/backups/daily/one.gz")?.map(({ length }) => length >> 20);
  expect([sizes, storage.open.size]).toEqual([[16, 4], 0]);
  const back = await buffer(Readable.from(await load(place)));
  expect(back.equals(Buffer.concat(LARGE))).toBe(true);
});

test("[BK8] a backup whose source fails leaves no object, and no parts of one", async () => {
  const stored = store(placeOfSmallParts(), backupOf(TWO_PARTS, failing));
  await expect(stored).rejects.toThrow("the database has gone");
  expect([storage.objects.size, storage.open.size]).toEqual([0, 0]);
});

test.each([
  ["a part", "PUT", 403, "<Code>AccessDenied</Code>", "403 AccessDenied"],
  ["the end", "POST", 200, "<Error><Code>InvalidPart</Code></Error>", "did not complete the upload: InvalidPart"],
])("[BK8] a backup of which the storage refuses %s leaves no object, and no parts of one", async (_, ...refusal) => {
  const [method, status, body, told] = refusal;
  storage.refuse(method, status, body);
  const stored = store(placeOfSmallParts(), backupOf(TWO_PARTS));
  await expect(stored).rejects.toThrow(told);
  expect([storage.objects.size, storage.open.size]).toEqual([0, 0]);
});

test("[BK8] a backup whose source fails leaves no file, and the one that was there", async () => {
  const place = { path: join(folder, "binnacle.gz") };
  await expect(store(place, backupOf(SMALL, failing))).rejects.toThrow("the database has gone");
  expect(readdirSync(folder)).toEqual([]);
  await store(place, backupOf([Buffer.from("former")]));
  await expect(store(place, backupOf(SMALL, failing))).rejects.toThrow("the database has gone");
  expect(readdirSync(folder)).toEqual(["binnacle.gz"]);
  expect((await buffer(Readable.from(await load(place)))).toString()).toBe("former");
});

test("[BK2309] of the backups of one name the newest stay, and no other file is touched", async () => {
  const day = (number: number) => `binnacle-2026010${number}T030405Z.gz`;
  const others = ["binnacle-notes.gz", "other-20250101T030405Z.gz", `${day(1)}.unfinished`];
  for (const name of [day(3), day(1), day(4), day(2), ...others]) writeFileSync(join(folder, name), "");
  expect(await removeOldest(join(folder, "binnacle-{time}.gz"), 2)).toEqual([day(1), day(2)]);
  expect(readdirSync(folder).sort()).toEqual([day(3), day(4), ...others].sort());
});

test.each([
  ["/backups/binnacle.gz", "3"],
  ["s3://backups/binnacle-{time}.gz", "3"],
  ["/{time}/binnacle-{time}.gz", "3"],
  ["/backups/binnacle-{time}.gz", "0"],
  ["/backups/binnacle-{time}.gz", "all"],
])("[BK2309] a backup to %s that keeps %s of them is refused before it begins", async (place, keep) => {
  await expect(runBackup([place, "--keep", keep])).rejects.toThrow(/^--keep /);
});

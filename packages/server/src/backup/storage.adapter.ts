import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { downloadObject, type S3Place, s3PlaceOf, uploadObject } from "./s3.adapter.ts";

/** Where a backup is: `-` for the standard input and output, a path of a file, or `s3://bucket/key`. */
export type StoragePlace = { readonly path: string } | { readonly s3: S3Place };

export const storagePlaceOf = (text: string, env: Readonly<Record<string, string | undefined>>): StoragePlace =>
  text.startsWith("s3://") ? { s3: s3PlaceOf(text, env) } : { path: text };

/** Fast enough for the database to be what takes the time. */
const GZIP_LEVEL = 4;

/** Writes a backup. It appears under its name only when it is whole. */
export async function store(place: StoragePlace, backup: AsyncIterable<Buffer>): Promise<void> {
  const gzip = createGzip({ level: GZIP_LEVEL });
  if ("s3" in place) return pipeline(Readable.from(backup), gzip, (parts) => uploadObject(place.s3, parts));
  if (place.path === "-") return pipeline(Readable.from(backup), gzip, process.stdout, { end: false });
  const unfinished = `${place.path}.unfinished`;
  try {
    // Nobody else may read it: password hashes and sealed secrets are in it.
    await pipeline(Readable.from(backup), gzip, createWriteStream(unfinished, { mode: 0o600, flush: true }));
    await rename(unfinished, place.path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Stands in the name of a backup for the time at which it is taken. */
export const TIME = "{time}";

/** Whether backups of this name are files with a time, of which old ones can be told from new ones. */
export const hasTime = (place: string): boolean =>
  !place.startsWith("s3://") && basename(place).split(TIME).length === 2 && !dirname(place).includes(TIME);

/** Removes all files of a name with a time but the newest, and returns their names. Times sort by name. */
export async function removeOldest(place: string, keep: number): Promise<string[]> {
  const [before = "", after = ""] = basename(place).split(TIME);
  const folder = dirname(place);
  const isOne = (name: string) =>
    name.startsWith(before) &&
    name.endsWith(after) &&
    /^\d{8}T\d{6}Z$/.test(name.slice(before.length, name.length - after.length));
  const old = (await readdir(folder)).filter(isOne).sort().slice(0, -keep);
  for (const name of old) await rm(join(folder, name));
  return old;
}

/** Reads a backup, uncompressed. */
export async function load(place: StoragePlace): Promise<AsyncIterable<Buffer>> {
  const source = "s3" in place ? await downloadObject(place.s3) : fileOf(place.path);
  const gunzip = createGunzip();
  // The reader of the result gets the error, also one that begins to read afterwards.
  gunzip.on("error", () => undefined);
  source.on("error", (error) => gunzip.destroy(error));
  return source.pipe(gunzip);
}

const fileOf = (path: string): Readable => (path === "-" ? process.stdin : createReadStream(path));

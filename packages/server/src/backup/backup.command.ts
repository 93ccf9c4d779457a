import { parseArgs } from "node:util";
import { parseConfig } from "../config.ts";
import { withAddress, withClient } from "../database/command.adapter.ts";
import { resolveKeys } from "../local-secrets.adapter.ts";
import { productVersion } from "../product-version.adapter.ts";
import { createVault } from "../vault/vault.ts";
import { backUp } from "./backup.store.ts";
import { BackupReader } from "./backup-file.ts";
import { restore } from "./restore.store.ts";
import { hasTime, load, removeOldest, storagePlaceOf, store, TIME } from "./storage.adapter.ts";

/** `binnacle-server backup <place> [--keep <number>]` */
export async function runBackup(args: readonly string[]): Promise<void> {
  const options = { keep: { type: "string" } } as const;
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [place] = positionals;
  if (!place) throw new Error("Say where to: binnacle-server backup <file | - | s3://bucket/key> [--keep <number>]");
  const keep = values.keep === undefined ? null : keptOf(values.keep, place);
  const storage = storagePlaceOf(place.replaceAll(TIME, stamp(new Date())), process.env);
  const version = await productVersion();
  await withAddress(parseConfig(process.env), (address) =>
    withClient(address, (client) => store(storage, backUp(client, { now: new Date(), version }))),
  );
  process.stderr.write("The backup is complete.\n");
  // Only now: a backup that fails must not cost an older one.
  const removed = keep === null ? [] : await removeOldest(place, keep);
  if (removed.length > 0) process.stderr.write(`Removed: ${removed.join(", ")}\n`);
}

function keptOf(text: string, place: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error("--keep takes how many backups stay, from 1 to 99999.");
  if (!hasTime(place)) {
    throw new Error("--keep is for files whose name has {time} in it, as in /backups/binnacle-{time}.gz.");
  }
  return Number(text);
}

/** `binnacle-server restore <place>` */
export async function runRestore([place]: readonly string[]): Promise<void> {
  if (!place) throw new Error("Say where from: binnacle-server restore <file | - | s3://bucket/key>");
  const config = parseConfig(process.env);
  const { vaultKeys } = await resolveKeys(config.secrets, config.dataDir);
  const backup = new BackupReader(await load(storagePlaceOf(place, process.env)));
  await withAddress(config, async (address) => {
    const { rows } = await restore(address, backup, createVault(vaultKeys));
    const count = Object.values(rows).reduce((sum, own) => sum + own, 0);
    process.stderr.write(`The backup is restored: ${count} rows in ${Object.keys(rows).length} tables.\n`);
  });
}

/** A time that sorts by name: 20260102T030405Z. */
const stamp = (now: Date) => now.toISOString().replace(/[-:]|\.\d+/g, "");

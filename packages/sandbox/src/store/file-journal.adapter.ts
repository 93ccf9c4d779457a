import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { appendFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Journal, JournalRecord } from "./kube-object.ts";

/** A file with so many lines more than objects is written anew. */
const MOST_OLD_LINES = 5_000;

/**
 * A file of lines, each a change. At each start, and when it has grown, it is written anew with the last state of each
 * object; a last line that a crash has cut off is left out.
 */
export function fileJournal(path: string): Journal {
  const newest = new Map<string, JournalRecord>();
  let highest: JournalRecord | null = null;
  let waiting: string[] = [];
  let lines = 0;
  let writing: Promise<void> = Promise.resolve();

  function note(record: JournalRecord): void {
    if (record.version >= (highest?.version ?? 0)) highest = record;
    const key = `${record.resource} ${record.key}`;
    if (record.object === null) newest.delete(key);
    else newest.set(key, record);
    lines += 1;
  }

  /** Deleted objects are dropped, except for the newest change: a version must never be assigned twice. */
  function kept(): JournalRecord[] {
    lines = newest.size;
    return [...newest.values(), ...(highest?.object === null ? [highest] : [])];
  }

  async function write(): Promise<void> {
    const added = waiting;
    waiting = [];
    if (added.length === 0) return;
    try {
      await put(added);
    } catch (error) {
      // A disk that is full may have room again when the next change comes.
      waiting = [...added, ...waiting];
      throw error;
    }
  }

  async function put(added: readonly string[]): Promise<void> {
    if (lines - newest.size < MOST_OLD_LINES) return appendFile(path, added.join(""), { mode: 0o600 });
    await writeFile(`${path}.new`, textOf(kept()), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  return {
    read() {
      mkdirSync(dirname(path), { recursive: true });
      for (const record of recordsIn(contentOf(path))) note(record);
      const records = kept();
      writeFileSync(`${path}.new`, textOf(records), { mode: 0o600 });
      renameSync(`${path}.new`, path);
      return records;
    },
    append(record) {
      note(record);
      waiting.push(`${JSON.stringify(record)}\n`);
      // A flush reports the failure; the change is written again with the next one.
      writing = writing.then(write).catch(() => undefined);
    },
    async flush() {
      await writing;
      await write();
    },
  };
}

const textOf = (records: readonly JournalRecord[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function* recordsIn(content: string): Generator<JournalRecord> {
  for (const line of content.split("\n")) {
    const record = recordOf(line);
    if (record) yield record;
  }
}

function recordOf(line: string): JournalRecord | null {
  try {
    return line === "" ? null : (JSON.parse(line) as JournalRecord);
  } catch {
    return null;
  }
}

import { createHash } from "node:crypto";

/**
 * A backup is text: a line of JSON about the whole, then for each table a line of JSON and its rows as `COPY` writes them, which end
 * with the line `\.`, and a last line of JSON with the SHA-256 of everything before it. It is compressed with gzip.
 */
export const BACKUP_FORMAT = 1;

export interface BackupHeader {
  readonly binnacle_backup: number;
  readonly created_at: string;
  /** The version of the server that wrote it. */
  readonly version: string;
  /** The migrations that the database had. */
  readonly migrations: readonly string[];
  /** The next value of each sequence that belongs to no column. */
  readonly sequences: Readonly<Record<string, string>>;
}

export interface TableSection {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface BackupTrailer {
  readonly rows: Readonly<Record<string, number>>;
  readonly sha256: string;
}

/** The file is not a whole backup. Nothing of it was restored. */
export class BrokenBackup extends Error {
  override readonly name = "BrokenBackup";
}

export const END_OF_ROWS = Buffer.from("\\.\n");
const END_AFTER_ROW = Buffer.from("\n\\.\n");

/** No line of JSON in a backup is near to this, so that a file that is something else is not read into memory. */
const LONGEST_LINE = 1024 * 1024;

/** Reads the parts of an uncompressed backup, one after another. */
export class BackupReader {
  readonly #source: AsyncIterator<Buffer>;
  readonly #hash = createHash("sha256");
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The digest of everything that was read so far. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  async line<T>(): Promise<T> {
    let end = this.#held.indexOf("\n");
    while (end === -1) {
      if (this.#held.length > LONGEST_LINE || !(await this.#readMore()))
        throw new BrokenBackup("The file is not a backup of Binnacle, or it is cut off.");
      end = this.#held.indexOf("\n");
    }
    try {
      return JSON.parse(this.#held.toString("utf8", 0, end)) as T;
    } catch {
      throw new BrokenBackup("The file is not a backup of Binnacle, or it is damaged.");
    } finally {
      this.#take(end + 1);
    }
  }

  /** The rows of the table whose section was read last. */
  async *rows(): AsyncGenerator<Buffer> {
    while (this.#held.length < END_OF_ROWS.length) await this.#needMore();
    if (this.#held.subarray(0, END_OF_ROWS.length).equals(END_OF_ROWS)) {
      this.#take(END_OF_ROWS.length);
      return;
    }
    for (;;) {
      const end = this.#held.indexOf(END_AFTER_ROW);
      if (end !== -1) {
        yield this.#take(end + 1);
        this.#take(END_OF_ROWS.length);
        return;
      }
      // The mark may begin in this part and end in the next one.
      const certain = this.#held.length - END_AFTER_ROW.length + 1;
      if (certain > 0) yield this.#take(certain);
      await this.#needMore();
    }
  }

  /** Whether the file goes on. */
  async hasMore(): Promise<boolean> {
    return this.#held.length > 0 || this.#readMore();
  }

  async #needMore(): Promise<void> {
    if (!(await this.#readMore())) throw new BrokenBackup("The backup is cut off.");
  }

  async #readMore(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
    return true;
  }

  #take(length: number): Buffer {
    const taken = this.#held.subarray(0, length);
    this.#hash.update(taken);
    this.#held = this.#held.subarray(length);
    return taken;
  }
}

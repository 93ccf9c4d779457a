import type { Fetch } from "../outbound/fetch.adapter.ts";
import type { Readers } from "./readers.adapter.ts";

/** What reading a chart needs, and for whom it is read. */
export interface Reading {
  readonly fetch: Fetch;
  readonly readers: Readers;
  readonly caller: string;
}

/** One version of a chart, packed, and which others there are. */
export interface ChartSource {
  readonly version: string;
  /** Newest first. */
  readonly versions: readonly string[];
  readonly archive: Buffer;
  /** SHA-256, as the repository states it. */
  readonly digest: string | null;
}

/** The repository is there; such a chart, or such a version of it, is not. */
export class ChartUnknown extends Error {
  override readonly name = "ChartUnknown";
}

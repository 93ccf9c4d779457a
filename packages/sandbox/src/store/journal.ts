import type { KubeObject } from "./kube-object.ts";
import type { GroupResource } from "./store.ts";

export interface JournalRecord {
  readonly version: number;
  readonly resource: GroupResource;
  readonly key: string;
  /** Null when the object is gone. */
  readonly object: KubeObject | null;
}

/** Where a sandbox keeps its objects over a restart. */
export interface Journal {
  /** All that is kept, oldest first. Called once, before anything is appended. */
  read(): Iterable<JournalRecord>;
  append(record: JournalRecord): void;
  /** Resolves when all that was appended is kept. */
  flush(): Promise<void>;
}

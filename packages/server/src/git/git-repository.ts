import type { ParsedCommit } from "./commit.ts";
import type { GitObject } from "./object.ts";
import type { TreeFile } from "./tree.ts";

export type PushOutcome =
  /** The branch is at the new head, by this push or by an earlier try of it. */
  | { readonly result: "pushed" }
  /** The branch was somewhere else than expected and is unchanged. */
  | { readonly result: "stale"; readonly head: string | null }
  /** The host declined the change. The message says why, as far as the host said. */
  | { readonly result: "refused"; readonly message: string };

/** One remote, one branch, one key and pinned host keys. Every call throws GitProblem. */
export interface GitRepository {
  /** The branch's head, with everything that it needs; null where the branch does not exist. */
  fetch(signal?: AbortSignal): Promise<{ readonly head: string | null }>;
  /** The files of a commit by their paths. */
  readTree(commit: string): Promise<ReadonlyMap<string, TreeFile>>;
  readBlob(id: string): Promise<Buffer>;
  /** Many at once, which is much faster than one after the other. */
  readBlobs(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /**
   * What `head` has and `after` has not, parents before children. Empty where `after` is `head`, and where it is not an
   * ancestor of it: the history was rewritten.
   */
  commits(after: string | null, head: string): Promise<readonly ParsedCommit[]>;
  /** Sends the objects and moves the branch if it still is at `expected`. It never forces. */
  push(
    objects: readonly GitObject[],
    head: string,
    expected: string | null,
    signal?: AbortSignal,
  ): Promise<PushOutcome>;
}

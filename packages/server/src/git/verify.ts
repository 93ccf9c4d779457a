import type { ParsedCommit } from "./commit.ts";
import { type AllowedSigner, principalsByKey } from "./signers.ts";
import { verifySignature } from "./ssh-signature.ts";

export type BadReason = "bad_signature" | "unknown_signer" | "unsigned";

export interface VerifiedCommit {
  readonly id: string;
  readonly principal: string;
}

export type Verification =
  | { readonly result: "verified"; readonly commits: readonly VerifiedCommit[] }
  /** The applied commit is not an ancestor of the head: somebody moved the branch by force. Nothing of it may be applied. */
  | { readonly result: "rewritten" }
  /** The first commit that is not what it should be. */
  | { readonly result: "bad"; readonly commit: string; readonly reason: BadReason; readonly message: string };

export interface History {
  /** The commit that is applied now; null where nothing is. */
  readonly applied: string | null;
  readonly head: string;
  /** As `GitRepository.commits(applied, head)` gives them. */
  readonly commits: readonly ParsedCommit[];
}

/** Verifications that are under way together. Node has four threads for them. */
const AT_ONCE = 16;

/** Verifies each commit from the applied one to the head. The work is done on Node's threads: the event loop goes on. */
export async function verifyHistory(
  { applied, head, commits }: History,
  signers: readonly AllowedSigner[],
): Promise<Verification> {
  if (!leadsTo(applied, head, commits)) return { result: "rewritten" };
  const principals = principalsByKey(signers);
  const verified: VerifiedCommit[] = [];
  for (let from = 0; from < commits.length; from += AT_ONCE) {
    const some = await Promise.all(
      commits.slice(from, from + AT_ONCE).map((commit) => verifyCommit(commit, principals)),
    );
    for (const one of some) {
      if ("reason" in one) return { result: "bad", ...one };
      verified.push(one);
    }
  }
  return { result: "verified", commits: verified };
}

/**
 * Whether the head comes from the applied commit, by parents that are all in the list. What a merge brings from a branch that
 * began before the applied commit ends at commits that were applied with it.
 */
function leadsTo(applied: string | null, head: string, commits: readonly ParsedCommit[]): boolean {
  if (applied === head) return true;
  const byId = new Map(commits.map((commit) => [commit.id, commit]));
  if (!byId.has(head)) return false;
  const seen = new Set<string>([head]);
  for (const id of seen) {
    for (const parent of byId.get(id)?.parents ?? []) seen.add(parent);
  }
  // A commit in the list that the head does not come from would be verified for nothing, and hide that another one is missing.
  const complete = commits.every(({ id }) => seen.has(id));
  const known = (id: string) => byId.has(id);
  return complete && (applied === null ? [...seen].every(known) : seen.has(applied) && !known(applied));
}

type Judged = VerifiedCommit | { readonly commit: string; readonly reason: BadReason; readonly message: string };

async function verifyCommit(commit: ParsedCommit, principals: ReadonlyMap<string, string>): Promise<Judged> {
  const bad = (reason: BadReason, what: string) => ({
    commit: commit.id,
    reason,
    message: `The commit ${commit.id} ${what}.`,
  });
  if (commit.signature === null) return bad("unsigned", "has no signature");
  const key = await verifySignature(commit.signature, commit.payload);
  if (!key) return bad("bad_signature", "has a signature that does not belong to its content");
  const principal = principals.get(key.toString("base64"));
  if (principal === undefined) return bad("unknown_signer", "is signed by a key that is not allowed");
  return { id: commit.id, principal };
}

import type { Queries } from "../database/transaction.ts";
import { GitProblem } from "../git/git-problem.ts";
import { blobOf } from "../git/object.ts";
import type { TreeFile } from "../git/tree.ts";
import type { Vault } from "../vault/vault.ts";
import { wholeState } from "./content.store.ts";
import { fingerprintVault } from "./fingerprint.ts";
import type { GitAccess } from "./git-access.ts";
import { findGitopsThatIsOn, opened } from "./gitops-settings.store.ts";
import type { KindsWith } from "./outbox.store.ts";
import { allWaiting, atOneMoment, findRepository, openedPushKey, writtenRepositories } from "./sync.store.ts";
import { differingPaths, type OutboxRow } from "./sync.ts";

interface VerifyPorts {
  readonly db: Queries;
  readonly vault: Vault;
  readonly git: Pick<GitAccess, "repository">;
  readonly kindsWith: KindsWith;
}

export interface Verified {
  readonly repository: string;
  readonly head: string | null;
  /** Changes that are not in the head yet. They are compared as if they were. */
  readonly waiting: number;
  /** Where the repository is not what the database says. */
  readonly paths: readonly string[];
  /** Why it could not be compared; null where it was. */
  readonly problem: string | null;
}

/** Compares each repository that was written with what the database says, file by file and byte for byte. */
export async function verifyAll(ports: VerifyPorts, report: (verified: Verified) => void): Promise<void> {
  for (const clusterId of await writtenRepositories(ports.db)) {
    const verified = await verifyOne(ports, clusterId);
    if (verified) report(verified);
  }
}

async function verifyOne({ db, vault, git, kindsWith }: VerifyPorts, clusterId: string): Promise<Verified | null> {
  const { repository, settings, state, rows } = await atOneMoment(db, async (tx) => {
    const found = await findRepository(tx, clusterId);
    const on = found && (await findGitopsThatIsOn(tx, found.org_id));
    if (!on) return { repository: null, settings: null, state: null, rows: [] };
    const kinds = kindsWith(fingerprintVault(vault, opened(vault, on, "sealed_fingerprint_key")));
    return {
      repository: found,
      settings: on,
      state: await wholeState(tx, kinds, clusterId),
      rows: await allWaiting(tx, clusterId),
    };
  });
  if (!repository?.url || !settings || !state) return null;
  const seen = { repository: repository.name, waiting: rows.length };
  try {
    const access = { url: repository.url, branch: settings.branch, hostKeys: settings.host_keys };
    const remote = git.repository({ ...access, privateKey: openedPushKey(vault, repository) });
    const { head } = await remote.fetch();
    if (head !== repository.head) {
      const problem = `The head is ${head ?? "missing"}, and Binnacle wrote ${repository.head ?? "none"}.`;
      return { ...seen, head, paths: [], problem };
    }
    if (rows.some(({ files }) => files === null)) {
      return { ...seen, head, paths: [], problem: "The whole state waits to be written." };
    }
    const found = head === null ? new Map<string, TreeFile>() : await remote.readTree(head);
    return { ...seen, head, paths: differingPaths(state.files, withWaiting(found, rows)), problem: null };
  } catch (error) {
    if (!(error instanceof GitProblem)) throw error;
    return { ...seen, head: null, paths: [], problem: error.message };
  }
}

/** The files as they will be once everything that waits is written. */
function withWaiting(found: ReadonlyMap<string, TreeFile>, rows: readonly OutboxRow[]): Map<string, TreeFile> {
  const files = new Map(found);
  for (const [path, text] of rows.flatMap((row) => Object.entries(row.files ?? {}))) {
    if (text === null) files.delete(path);
    else files.set(path, { mode: "100644", id: blobOf(text).id });
  }
  return files;
}

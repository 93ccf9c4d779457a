import type { ClusterGitops, DeploymentCommit } from "@binnacle/contract";
import type { GitopsSettings } from "./gitops-settings.ts";
import type { AgentKey } from "./key.ts";
import { keyState } from "./key.ts";
import type { Repository } from "./sync.ts";

/** What is on record of a cluster's repository, each read at one moment. */
export interface Facts {
  /** Null where GitOps is off. */
  readonly settings: GitopsSettings | null;
  /** Null before anything was to be written. */
  readonly repository: Repository | null;
  readonly pending: { readonly changes: number; readonly since: Date | null };
  readonly keys: readonly AgentKey[];
}

/** Repositories are looked at every hour, and those of a large organization one after the other. */
const SEEN_WITHIN_MS = 3 * 3_600_000;

/**
 * What was observed, never what is hoped for: a head is in sync only while nothing waits, the last try did not fail and the head was
 * seen not long ago.
 */
export function stateOf({ settings, repository, pending }: Omit<Facts, "keys">, now: Date): ClusterGitops["state"] {
  if (!settings) return "off";
  if (repository && repository.foreign_head !== null) return "ahead";
  if (repository && repository.error_code !== null) return "failing";
  if (pending.changes > 0) return "pending";
  if (!repository?.head) return "waiting";
  const { observed_at } = repository;
  return observed_at && now.getTime() - observed_at.getTime() < SEEN_WITHIN_MS ? "in_sync" : "unknown";
}

type Address = Pick<GitopsSettings, "provider" | "base_url" | "owner">;

/** Where people see a commit; null at hosts without pages. */
export function commitUrl({ provider, base_url, owner }: Address, repository: string, commit: string): string | null {
  if (provider === "gitolite") return null;
  return `${base_url}/${owner}/${repository}/${provider === "gitlab" ? "-/" : ""}commit/${commit}`;
}

export const shownCommit = (address: Address, repository: string, id: string): DeploymentCommit => ({
  id,
  url: commitUrl(address, repository, id),
});

export function wireGitops(clusterId: string, facts: Facts, now: Date): ClusterGitops {
  const { settings, repository, pending, keys } = facts;
  const state = stateOf(facts, now);
  if (!settings) return { ...NOTHING, cluster_id: clusterId, state };
  const { head, head_at, head_revision, error_code, error_message, error_at } = repository ?? {};
  const retry = repository?.next_try_at ?? settings.paused_until;
  return {
    cluster_id: clusterId,
    state,
    url: repository?.url ?? null,
    branch: settings.branch,
    head:
      repository && head && head_at
        ? {
            ...shownCommit(settings, repository.name, head),
            revision: head_revision ?? 0,
            at: head_at.toISOString(),
          }
        : null,
    foreign_head: repository?.foreign_head || null,
    observed_at: repository?.observed_at?.toISOString() ?? null,
    pending: { changes: pending.changes, since: pending.since?.toISOString() ?? null },
    error:
      error_code && error_at ? { code: error_code, message: error_message ?? "", at: error_at.toISOString() } : null,
    next_try_at: state === "failing" || state === "ahead" ? (retry?.toISOString() ?? null) : null,
    signing_key: settings.signing_key,
    keys: keys.map((key) => ({
      id: key.id,
      fingerprint: key.fingerprint,
      state: keyState(key),
      created_at: key.created_at.toISOString(),
      proven_at: key.proven_at?.toISOString() ?? null,
      removed_at: key.remove_at?.toISOString() ?? null,
    })),
  };
}

const NOTHING = {
  ...{
    url: null,
    branch: null,
    head: null,
    foreign_head: null,
    observed_at: null,
    error: null,
    next_try_at: null,
    signing_key: null,
  },
  pending: { changes: 0, since: null },
  keys: [],
};

import type { GitopsProblemCode, GitopsProvider } from "@binnacle/contract";
import type { Generated } from "kysely";
import type { HostKey } from "../git/git-host.ts";
import type { Json, Timestamps } from "./fleet-tables.ts";

/** The tables of desired state in Git, as the migrations create them. */
export interface GitopsTables {
  gitops_commits: GitopsCommitTable;
  gitops_keys: GitopsKeyTable;
  gitops_outbox: GitopsOutboxTable;
  gitops_repositories: GitopsRepositoryTable;
  gitops_settings: GitopsSettingsTable;
}

export interface GitopsSettingsTable extends Timestamps {
  org_id: string;
  is_on: boolean;
  provider: GitopsProvider;
  base_url: string;
  owner: string;
  /** Null where it is at the host of `base_url`. */
  ssh_url: string | null;
  branch: string;
  author_email_domain: string | null;
  /** Pinned. */
  host_keys: Json<readonly HostKey[]>;
  key_grace_hours: number;
  /** Null where GitOps is switched off. */
  sealed_token: string | null;
  /** The public part. */
  signing_key: string;
  sealed_signing_key: string;
  /** Fingerprints of secrets are made with it. */
  sealed_fingerprint_key: string;
  /** Until then no cluster of the organization tries the host, because it did not answer. */
  paused_until: Date | null;
  /** Raised when the place or the branch changes, and when GitOps is switched on or off. */
  epoch: Generated<number>;
}

export interface GitopsRepositoryTable extends Timestamps {
  cluster_id: string;
  org_id: string;
  /** At the host. */
  name: string;
  /** Null until the host has it. */
  url: string | null;
  /** The commit that was written last; null before the first. */
  head: string | null;
  head_revision: number | null;
  head_at: Date | null;
  /** What is about to be pushed. It is stored before, so that a push whose end nobody has seen is recognized. */
  pushing_head: string | null;
  pushing_revision: number | null;
  /** A commit of somebody else, because of which nothing is written. */
  foreign_head: string | null;
  error_code: GitopsProblemCode | null;
  error_message: string | null;
  error_at: Date | null;
  failures: Generated<number>;
  next_try_at: Date | null;
  /** When the head at the host was last seen; null before the first time. */
  observed_at: Date | null;
  /** When it is to be looked at again, though nothing waits to be written. */
  look_at: Generated<Date>;
  /** The public key with which Binnacle itself pushes. */
  push_key: string | null;
  sealed_push_key: string | null;
}

export interface GitopsKeyTable extends Timestamps {
  id: string;
  cluster_id: string;
  org_id: string;
  /** What the host calls it. */
  host_id: string;
  public_key: string;
  fingerprint: string;
  /** Until something was pushed with it. */
  sealed_private_key: string | null;
  proven_at: Date | null;
  superseded_at: Date | null;
  remove_at: Date | null;
}

/** A change and its commit to be. */
export interface GitopsOutboxTable {
  cluster_id: string;
  /** Of the cluster, with this change. */
  revision: number;
  org_id: string;
  at: Date;
  summary: string;
  author_name: string | null;
  author_email: string | null;
  audit_id: string | null;
  request_id: string | null;
  /** By path; null where the file goes. Without any it is a commit of the whole state. */
  files: Json<Readonly<Record<string, string | null>>> | null;
  resources: Json<readonly { readonly resource_id: string; readonly generation: number }[]>;
  bytes: number;
}

interface GitopsCommitTable {
  resource_id: string;
  generation: number;
  cluster_id: string;
  /** Of the cluster. The commit has been written where the repository's head has this revision or a later one. */
  revision: number;
  commit_id: string;
}

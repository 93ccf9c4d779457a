import type { RepoCredential } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { GitopsKeyTable } from "../database/gitops-tables.ts";
import type { SshKey } from "../git/ssh-key.ts";
import type { GitopsSettings } from "./gitops-settings.ts";

export type AgentKey = Selectable<GitopsKeyTable>;

/** Nothing has been pushed with it, so it is not known to work. */
export const isUnproven = ({ proven_at, superseded_at }: Pick<AgentKey, "proven_at" | "superseded_at">): boolean =>
  proven_at === null && superseded_at === null;

export const keyState = (key: Pick<AgentKey, "proven_at" | "superseded_at">) =>
  key.superseded_at !== null ? "superseded" : key.proven_at === null ? "unproven" : "current";

/** When the host forgets a key that a proven one has superseded. */
export const removalTime = (now: Date, graceHours: number): Date => new Date(now.getTime() + graceHours * 3_600_000);

/** What is shown once, when the key is made. */
export function repoCredential(
  id: string,
  url: string,
  { privateKey, fingerprint }: SshKey,
  { branch, host_keys }: Pick<GitopsSettings, "branch" | "host_keys">,
): RepoCredential {
  return {
    key_id: id,
    repo_url: url,
    branch,
    private_key: privateKey,
    fingerprint,
    host_keys: host_keys.map(({ key }) => key),
    host_key_fingerprints: host_keys.map((key) => key.fingerprint),
    expires_at: null,
  };
}

import type { GitopsProvider } from "@binnacle/contract";
import type { Sign } from "../git/commit.ts";
import type { GitHost, HostKey } from "../git/git-host.ts";
import type { GitRepository } from "../git/git-repository.ts";
import type { SshKey } from "../git/ssh-key.ts";

/** Where an organization has its repositories, with what opens it. */
export interface HostAccess {
  readonly provider: GitopsProvider;
  readonly baseUrl: string;
  readonly owner: string;
  /** Where its repositories are reached by SSH. */
  readonly sshUrl: string;
  /** For gitolite the private key of its administrator. */
  readonly token: string;
  /** Empty before the first check, which shows the keys to pin. */
  readonly hostKeys: readonly HostKey[];
}

export interface RepositoryAccess {
  readonly url: string;
  readonly branch: string;
  readonly privateKey: string;
  readonly hostKeys: readonly HostKey[];
}

/** What this slice needs of Git: hosts, repositories, keys and signatures. */
export interface GitAccess {
  host(access: HostAccess): GitHost;
  repository(access: RepositoryAccess): GitRepository;
  newKey(comment: string): SshKey;
  signWith(privateKey: string): Sign;
}

/** Where the API of a host is. That of GitHub has a host of its own, and that of GitHub Enterprise Server a path. */
export function apiUrl(provider: GitopsProvider, baseUrl: string): string {
  if (provider !== "github") return baseUrl;
  return /^https:\/\/(www\.)?github\.com$/.test(baseUrl) ? "https://api.github.com" : `${baseUrl}/api/v3`;
}

/** Hosts are reached by SSH at the host of their pages, unless they say otherwise. */
export const sshUrlOf = (baseUrl: string, given: string | null): string =>
  given ?? `ssh://git@${new URL(baseUrl).hostname}`;

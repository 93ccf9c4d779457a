import type { GitProblemCode } from "./git-problem.ts";

/** A key by which a host proves who it is. */
export interface HostKey {
  /** As in `ssh-ed25519`. */
  readonly type: string;
  /** The line of `known_hosts` without the name: `ssh-ed25519 AAAA…`. It is what is pinned. */
  readonly key: string;
  /** `SHA256:…`, as people compare it. */
  readonly fingerprint: string;
}

export interface HostProblem {
  readonly code: GitProblemCode;
  /** What is missing and what to do. */
  readonly message: string;
}

export interface HostCheck {
  /** Empty where the host can be used. */
  readonly problems: readonly HostProblem[];
  /** What the host shows now. Nothing is pinned by the check. */
  readonly hostKeys: readonly HostKey[];
}

/**
 * A place for repositories: what an organization sets up once. Everything but `check` throws GitProblem, also where the time of the
 * signal is over: one call is many requests to a host that may answer each of them slowly.
 */
export interface GitHost {
  /** What must hold before an organization can use the host. A refusal or an outage is a problem in the answer. */
  check(signal?: AbortSignal): Promise<HostCheck>;
  /** Makes the repository where it is missing. Idempotent. The name is one segment of a-z, 0-9 and hyphens. */
  ensureRepository(name: string, signal?: AbortSignal): Promise<{ readonly url: string }>;
  /** Lets the key read and write the repository. Idempotent by the public key; the title is for people. */
  addDeployKey(
    repository: string,
    key: { readonly title: string; readonly publicKey: string },
    signal?: AbortSignal,
  ): Promise<{ readonly id: string }>;
  /**
   * Has exactly these keys push to the branch at a host that protects branches by itself, where a key that may write is not enough.
   * Keys that the repository does not have are left out. Idempotent; nothing is to be done at other hosts.
   */
  allowPushes(
    repository: string,
    allowed: { readonly branch: string; readonly publicKeys: readonly string[] },
    signal?: AbortSignal,
  ): Promise<void>;
  /** Idempotent: a key that is gone, or whose repository is gone, has been removed. */
  removeDeployKey(repository: string, id: string, signal?: AbortSignal): Promise<void>;
}

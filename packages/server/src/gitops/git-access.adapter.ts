import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { GitHost } from "../git/git-host.ts";
import { createGitRepository } from "../git/git-repository.adapter.ts";
import { createGiteaHost } from "../git/hosts/gitea.adapter.ts";
import { createGithubHost } from "../git/hosts/github.adapter.ts";
import { createGitlabHost } from "../git/hosts/gitlab.adapter.ts";
import { createGitoliteHost } from "../git/hosts/gitolite.adapter.ts";
import { processFolder, removeLeftovers } from "../git/process-folder.adapter.ts";
import { sshKeyOf } from "../git/ssh-key.ts";
import { sshSigner } from "../git/ssh-signature.ts";
import { apiUrl, type GitAccess, type HostAccess } from "./git-access.ts";

interface Settings {
  /** Hosts that may have an address which is not public. */
  readonly gitHosts: readonly string[];
}

const BY_API = { gitea: createGiteaHost, github: createGithubHost, gitlab: createGitlabHost } as const;

const SEED_BYTES = 32;
/** A host keeps its place among the requests to it. */
const MOST_HOSTS = 200;
/** Of what was left by killed processes that do not start again here. */
const SWEEP_MS = 3_600_000;

/** Git by the programs of this machine. What is fetched is kept in a folder of this process, which ends with it. */
export function openGitAccess({ gitHosts: allowedHosts }: Settings): GitAccess {
  const searchPath = process.env["PATH"] ?? "";
  const clock = () => new Date();
  void removeLeftovers();
  setInterval(() => void removeLeftovers(), SWEEP_MS).unref();
  const folderOf = (...parts: readonly string[]) =>
    join(processFolder(), createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32));

  function newHost({ provider, baseUrl, owner, token, sshUrl, hostKeys }: HostAccess, name: string): GitHost {
    if (provider === "gitolite") {
      const keys = hostKeys.map(({ key }) => key);
      const settings = { url: baseUrl, privateKey: token, hostKeys: keys, allowedHosts, searchPath, clock };
      return createGitoliteHost({ ...settings, cacheFolder: folderOf("host", name) });
    }
    const settings = { url: apiUrl(provider, baseUrl), sshUrl, owner, token, allowedHosts, searchPath };
    return BY_API[provider](settings);
  }

  const hosts = new Map<string, GitHost>();
  return {
    host(access) {
      const name = createHash("sha256").update(JSON.stringify(access)).digest("hex");
      const known = hosts.get(name) ?? newHost(access, name);
      const oldest = hosts.keys().next();
      if (!hosts.has(name) && hosts.size >= MOST_HOSTS && !oldest.done) hosts.delete(oldest.value);
      hosts.set(name, known);
      return known;
    },
    repository: ({ url, branch, privateKey, hostKeys }) =>
      createGitRepository({
        ...{ url, branch, privateKey, allowedHosts, searchPath },
        hostKeys: hostKeys.map(({ key }) => key),
        cacheFolder: folderOf("repository", url, branch),
      }),
    newKey: (comment) => sshKeyOf(randomBytes(SEED_BYTES), comment),
    signWith: (privateKey) => sshSigner(privateKey),
  };
}

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GitFolder, gitFolder, temporaryFolder } from "../git-program.fixture.ts";
import { sshProgram } from "../ssh-program.fixture.ts";
import { createGitoliteHost, type GitoliteSettings } from "./gitolite.adapter.ts";

/** As `printf` of a shell takes it. */
export const GREETING = "hello admin, this is git@git running gitolite3 v3.6 on git 2.47\\n\\n R W\\tgitolite-admin\\n";

/** The programs of a gitolite without its compiler: it greets, and has its administration repository. */
export function gitoliteProgram() {
  const admin: GitFolder = gitFolder();
  admin.git(["symbolic-ref", "HEAD", "refs/heads/master"]);
  const ssh = sshProgram();
  const [programs = ""] = ssh.searchPath.split(":");
  const keyscan = join(programs, "ssh-keyscan");
  writeFileSync(
    keyscan,
    "#!/bin/sh\necho '10.0.0.7 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH'\n",
  );
  chmodSync(keyscan, 0o755);
  ssh.does(`case "$last" in
info) printf '%b' '${GREETING}' ;;
*gitolite-admin*) exec \${last%% *} '${admin.folder}' ;;
*) exit 0 ;;
esac`);
  const settings: GitoliteSettings = {
    url: "ssh://git@git.test",
    privateKey: "the key of an administrator",
    hostKeys: [],
    cacheFolder: join(temporaryFolder(), "host"),
    searchPath: ssh.searchPath,
    allowedHosts: ["git.test"],
    resolve: async () => [{ address: "10.0.0.7", family: 4 }],
    clock: () => new Date("2026-05-04T10:20:30Z"),
  };
  return {
    admin,
    ssh,
    settings,
    host: (change: Partial<GitoliteSettings> = {}) => createGitoliteHost({ ...settings, ...change }),
  };
}

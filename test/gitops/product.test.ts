import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertCluster } from "../../packages/server/src/access/bindings.fixture.ts";
import { inSync, setGitops, statusOf } from "../../packages/server/src/gitops/gitops.fixture.ts";
import { runServerCommand } from "../world/server-command.ts";
import { startWorld, type World } from "../world/world.ts";
import { type Gitolite, startGitolite } from "./gitolite.ts";

const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;
const gitHosts = () => `127.0.0.1:${gitolite.port}`;

let gitolite: Gitolite;
let world: World;
let folder: string;
beforeAll(async () => {
  gitolite = await startGitolite();
  folder = mkdtempSync(join(tmpdir(), "gitops-"));
  world = await startWorld({ env: { BINNACLE_GIT_HOSTS: gitHosts(), BINNACLE_VAULT_KEYS: VAULT_KEYS } });
});
afterAll(async () => {
  await world?.stop();
  await gitolite?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Git as somebody else runs it, with the key that an agent was given. */
function agentGit(privateKey: string, hostKey: string) {
  writeFileSync(join(folder, "key"), `${privateKey.trimEnd()}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "hosts"), `[127.0.0.1]:${gitolite.port} ${hostKey}\n`);
  const ssh = `ssh -i ${join(folder, "key")} -o IdentitiesOnly=yes -o UserKnownHostsFile=${join(folder, "hosts")}`;
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, GIT_SSH_COMMAND: ssh };
  return (...args: string[]) => execFileSync("git", args, { env, cwd: folder, stdio: "pipe" }).toString();
}

test("[GO40] at a real gitolite each change is a signed commit that an agent fetches with the key that it was given", async () => {
  const { org, admin } = await world.orgWithPeople();
  const settings = { provider: "gitolite", base_url: gitolite.url, owner: "binnacle", token: gitolite.adminKey };
  const refused = await setGitops(admin, org, settings);
  expect(refused).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["body", "settings", "gitops", "provider"] }] },
  });
  expect(refused.body.detail[0].msg).toContain('include "binnacle/*.conf"');
  includeOurs();
  const set = await setGitops(admin, org, settings);
  expect(set, JSON.stringify(set.body)).toMatchObject({ status: 200 });
  const cluster = await insertCluster(world.database.kysely, org);
  const minted = await admin.api.post(`/clusters/${cluster}/agent-credentials`);
  expect(minted.status, JSON.stringify(minted.body)).toBe(201);
  const { repo_url, private_key, host_keys } = minted.body.repo_credential;
  // The first commit has the whole state, and with it every change of before.
  await inSync(admin, cluster, "in_sync", 100_000);
  const { id: project_id } = (await admin.api.post("/projects", { cluster_id: cluster, name: "shop" })).body;
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  expect((await admin.api.post("/apps", { project_id, name: "front", components })).status).toBe(201);
  const { head } = await inSync(admin, cluster, "in_sync", 100_000);
  const git = agentGit(private_key, host_keys[0]);
  git("clone", "--quiet", "--branch", "main", repo_url, "copy");
  expect(git("-C", "copy", "rev-parse", "HEAD").trim()).toBe(head.id);
  expect(git("-C", "copy", "log", "-1", "--format=%s").trim()).toBe("app.create front");
  const { signing_key } = set.body.settings.gitops;
  writeFileSync(join(folder, "signers"), `binnacle@localhost ${signing_key}\n`);
  git("-c", `gpg.ssh.allowedSignersFile=${join(folder, "signers")}`, "-C", "copy", "verify-commit", "HEAD");
  expect((await statusOf(admin, cluster)).keys).toMatchObject([{ state: "current" }]);
});

test("[GO50] `binnacle-server gitops verify` ends with 0 where every repository is as the database says, and with 1 where one is not", async () => {
  const env = { DATABASE_URL: world.databaseUrl, BINNACLE_VAULT_KEYS: VAULT_KEYS, BINNACLE_GIT_HOSTS: gitHosts() };
  const same = await runServerCommand(env, "gitops", "verify");
  expect(same.stdout).toContain("as the database says");
  await world.database.kysely.updateTable("apps").set({ components: "[]" }).execute();
  const differs = runServerCommand(env, "gitops", "verify");
  const stdout = expect.stringMatching(/1 files differ.*\n +projects\/[^/]+\/apps\/front\.yaml/);
  await expect(differs).rejects.toMatchObject({ code: 1, stdout });
});

/** The line that an administrator of gitolite adds once. */
function includeOurs(): void {
  const main = "printf '\\ninclude \"binnacle/*.conf\"\\n' >> conf/gitolite.conf";
  const who = "-c user.name=admin -c user.email=admin@example.com";
  const script = `set -e; d=$(mktemp -d); git clone -q $HOME/repositories/gitolite-admin.git $d; cd $d; ${main}
    git ${who} commit -qam include; gitolite push -q origin HEAD:master; rm -rf $d`;
  gitolite.run("sh", ["-c", script]);
}

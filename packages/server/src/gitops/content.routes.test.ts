import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { insertCluster } from "../access/bindings.fixture.ts";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { localGit } from "./git-access.fixture.ts";
import { fileIn, inSync, repositoryOf, SETTINGS, setGitops, statusOf, subjects } from "./gitops.fixture.ts";
import { type Verified, verifyAll } from "./verify.runner.ts";

const git = await localGit();
const world = await startWorld({ git });
const { kysely: db } = world.database;
const catalog = await loadCatalog();
afterAll(async () => {
  await world.stop();
  await git.close();
});
beforeEach(() => {
  git.isDown = false;
  git.refusesPushes = false;
});

const SECRET = "a secret of theirs";
const web = (image = "nginx:1.29") => [{ name: "web", workload_spec: { image }, secrets: { API_KEY: SECRET } }];

/** An organization with GitOps, a cluster, and a project on it. */
async function place() {
  const { org, admin } = await world.orgWithPeople();
  const cluster = await insertCluster(db, org);
  const { id: project_id, namespace } = (await admin.api.post("/projects", { cluster_id: cluster, name: "shop" })).body;
  const made = (name: string, image?: string) => admin.api.post("/apps", { project_id, name, components: web(image) });
  const changed = (name: string, image: string) =>
    admin.api.patch(`/apps/${namespace}/${name}?project_id=${project_id}`, {
      components: [{ op: "patch", name: "web", workload_spec: { image } }],
    });
  return { org, admin, cluster, project_id, namespace, made, changed };
}

async function verified(cluster: string): Promise<Verified[]> {
  const found: Verified[] = [];
  const kindsWith = (vault: typeof world.vault) => dispatchedKinds(vault, catalog);
  await verifyAll({ db, vault: world.vault, git, kindsWith }, (one) => found.push(one));
  const name = await repositoryOf(world, cluster);
  return found.filter(({ repository }) => repository === name);
}

describe("the repository of a cluster", () => {
  test("[GO48] switching GitOps on writes one commit with the whole state of each cluster", async () => {
    const { org, admin, cluster, namespace, made } = await place();
    await made("front");
    await made("back");
    await setGitops(admin, org);
    await inSync(admin, cluster);
    const repository = await repositoryOf(world, cluster);
    expect(await subjects(git, repository)).toEqual(["Write the whole state"]);
    const files = (await git.run(repository, "ls-tree", "-r", "--name-only", "main")).trim().split("\n");
    expect(files).toEqual([
      "README.md",
      `projects/${namespace}/apps/back.yaml`,
      `projects/${namespace}/apps/front.yaml`,
      `projects/${namespace}/project.yaml`,
      `projects/${namespace}/registry-secrets.yaml`,
    ]);
    expect(await verified(cluster)).toMatchObject([{ paths: [], problem: null, waiting: 0 }]);
  });

  test("[GO40] each change is one commit by its author, at its time, signed, with trailers of the audit log", async () => {
    const { org, admin, cluster, namespace, made, changed } = await place();
    await setGitops(admin, org, { ...SETTINGS, author_email_domain: "acme.example" });
    await inSync(admin, cluster);
    const at = world.clock.now();
    const created = await made("front");
    expect(created.status).toBe(201);
    expect((await changed("front", "nginx:1.30")).status).toBe(200);
    const { head } = await inSync(admin, cluster);
    const repository = await repositoryOf(world, cluster);
    expect(await subjects(git, repository)).toEqual(["Write the whole state", "app.create front", "app.update front"]);
    const [entry] = (await admin.api.get(`/orgs/${org}/audit-log?action=app.update`)).body.data;
    const log = await git.run(repository, "log", "-1", "--format=%H|%an|%ae|%cn|%at|%(trailers)", "main");
    const [id, name, email, committer, time, trailers] = log.trim().split("|");
    expect([id, name, email, committer]).toEqual([head.id, "Somebody", `${admin.username}@acme.example`, "Binnacle"]);
    expect(Number(time)).toBe(Math.floor(at.getTime() / 1000));
    expect(trailers).toBe(`Binnacle-Audit-Id: ${entry.id}\nBinnacle-Request-Id: ${entry.request_id}`);
    const { signing_key } = (await admin.api.get(`/org/settings?org_id=${org}`)).body.settings.gitops;
    const signers = join(git.folder, "allowed_signers");
    await writeFile(signers, `binnacle@localhost ${signing_key}\n`);
    await git.run(repository, "-c", `gpg.ssh.allowedSignersFile=${signers}`, "verify-commit", "main");
    expect(await fileIn(git, repository, `projects/${namespace}/apps/front.yaml`)).toContain("image: nginx:1.30");
    expect(await verified(cluster)).toMatchObject([{ paths: [], problem: null }]);
  });

  test("[GO41] a file has the object as the operator stores it, with its keys in order", async () => {
    const { org, admin, cluster, project_id, namespace, made } = await place();
    await setGitops(admin, org);
    const { id } = (await made("front")).body;
    await inSync(admin, cluster);
    const text = await fileIn(git, await repositoryOf(world, cluster), `projects/${namespace}/apps/front.yaml`);
    expect(parse(text)).toMatchObject({
      apiVersion: "binnacle.dev/v1alpha1",
      kind: "App",
      metadata: { name: "front", namespace, annotations: { "binnacle.dev/resource-id": id } },
      spec: { name: "front", namespace, project_id, paused: false },
    });
    const keys = text
      .split("\n")
      .filter((line) => /^\w/.test(line))
      .map((line) => line.split(":")[0]);
    expect(keys).toEqual(keys.toSorted());
  });

  test("[GO42] secrets are fingerprints that change with them, and nowhere in the history or the outbox", async () => {
    const { org, admin, cluster, project_id, namespace, made } = await place();
    await setGitops(admin, org);
    await inSync(admin, cluster);
    git.isDown = true;
    await made("front");
    const outbox = await db.selectFrom("gitops_outbox").select("files").where("cluster_id", "=", cluster).execute();
    expect(JSON.stringify(outbox)).toContain("hmac-sha256:");
    expect(JSON.stringify(outbox)).not.toContain(SECRET);
    git.isDown = false;
    await inSync(admin, cluster);
    const repository = await repositoryOf(world, cluster);
    const path = `projects/${namespace}/apps/front.yaml`;
    const before = parse(await fileIn(git, repository, path)).secret.secrets.web.API_KEY;
    expect(before).toMatch(/^hmac-sha256:[0-9a-f]{32}$/);
    const changed = await admin.api.patch(`/apps/${namespace}/front/components/web/secrets?project_id=${project_id}`, {
      API_KEY: "another",
    });
    expect(changed.status, JSON.stringify(changed.body)).toBeLessThan(300);
    await inSync(admin, cluster);
    expect(parse(await fileIn(git, repository, path)).secret.secrets.web.API_KEY).not.toBe(before);
    expect(await git.run(repository, "log", "-p", "main")).not.toContain(SECRET);
  });

  test("[GO44] changes that were made while the host was down are written in their order, once each", async () => {
    const { org, admin, cluster, made, changed } = await place();
    await setGitops(admin, org);
    await inSync(admin, cluster);
    git.isDown = true;
    await made("front");
    for (let tag = 1; tag <= 6; tag++) await changed("front", `nginx:1.${tag}`);
    const failing = await inSync(admin, cluster, "failing");
    expect(failing).toMatchObject({ pending: { changes: expect.any(Number) }, error: { code: "unreachable" } });
    expect((await statusOf(admin, cluster)).pending.changes).toBe(7);
    git.isDown = false;
    const { head, pending } = await inSync(admin, cluster);
    expect(pending).toEqual({ changes: 0, since: null });
    const repository = await repositoryOf(world, cluster);
    const patches = await git.run(repository, "log", "--reverse", "-p", "--format=", "main");
    const images = [...patches.matchAll(/^\+\s+image: (nginx:\S+)$/gm)].map(([, image]) => image);
    expect(images).toEqual(["nginx:1.29", ...[1, 2, 3, 4, 5, 6].map((tag) => `nginx:1.${tag}`)]);
    expect((await git.run(repository, "rev-parse", "main")).trim()).toBe(head.id);
    expect(await verified(cluster)).toMatchObject([{ paths: [], problem: null }]);
  });

  test("[GO46] nothing is written over a commit of somebody else, and writing goes on when it is gone", async () => {
    const { org, admin, cluster, made } = await place();
    await setGitops(admin, org);
    const { head: ours } = await inSync(admin, cluster);
    const repository = await repositoryOf(world, cluster);
    const tree = (await git.run(repository, "rev-parse", "main^{tree}")).trim();
    const who = ["-c", "user.name=Eve", "-c", "user.email=eve@example.com"];
    const foreign = (await git.run(repository, ...who, "commit-tree", tree, "-p", ours.id, "-m", "mine")).trim();
    await git.run(repository, "update-ref", "refs/heads/main", foreign);
    await made("front");
    const ahead = await inSync(admin, cluster, "ahead");
    expect(ahead).toMatchObject({ foreign_head: foreign, head: ours, pending: { changes: 1 } });
    expect((await git.run(repository, "rev-parse", "main")).trim()).toBe(foreign);
    expect(await verified(cluster)).toMatchObject([{ problem: expect.stringContaining(foreign) }]);
    await git.run(repository, "update-ref", "refs/heads/main", ours.id);
    await db.updateTable("gitops_repositories").set({ next_try_at: null }).where("cluster_id", "=", cluster).execute();
    await inSync(admin, cluster);
    expect(await subjects(git, repository)).toEqual(["Write the whole state", "app.create front"]);
  });

  test("[GO53] a repository that somebody rewrote or deleted is found, though nothing changes on its cluster", async () => {
    const { org, admin, cluster, made } = await place();
    await setGitops(admin, org);
    await inSync(admin, cluster);
    await made("front");
    const { head, observed_at } = await inSync(admin, cluster);
    expect(observed_at).toBe(world.clock.now().toISOString());
    const repository = await repositoryOf(world, cluster);
    const isDue = () =>
      db
        .updateTable("gitops_repositories")
        .set({ look_at: new Date(0), next_try_at: null })
        .where("cluster_id", "=", cluster)
        .execute();
    const folder = join(git.folder, `${repository}.git`);
    await rename(folder, `${folder}.gone`);
    await isDue();
    expect(await inSync(admin, cluster, "failing")).toMatchObject({ error: { code: "missing_repository" }, head });
    await rename(`${folder}.gone`, folder);
    const former = (await git.run(repository, "rev-parse", "main~1")).trim();
    await git.run(repository, "update-ref", "refs/heads/main", former);
    await isDue();
    expect(await inSync(admin, cluster, "ahead")).toMatchObject({ foreign_head: former, head });
  });

  test("[GO50] verify names the files that differ from the database", async () => {
    const { org, admin, cluster, namespace, made } = await place();
    await setGitops(admin, org);
    await made("front");
    await inSync(admin, cluster);
    await db.updateTable("apps").set({ components: "[]" }).where("cluster_id", "=", cluster).execute();
    expect(await verified(cluster)).toMatchObject([
      { paths: [`projects/${namespace}/apps/front.yaml`], problem: null },
    ]);
  });

  test("[GO61] the deployments of an app name their commits", async () => {
    const { org, admin, cluster, project_id, namespace, made, changed } = await place();
    await setGitops(admin, org);
    await inSync(admin, cluster);
    git.isDown = true;
    await made("front");
    await changed("front", "nginx:1.30");
    const path = `/apps/${namespace}/front/deployments?project_id=${project_id}`;
    const before = (await admin.api.get(path)).body.data;
    expect(before.map(({ commit }: { commit: unknown }) => commit)).toEqual([null, null]);
    git.isDown = false;
    await inSync(admin, cluster);
    const repository = await repositoryOf(world, cluster);
    const ids = (await git.run(repository, "log", "-2", "--format=%H", "main")).trim().split("\n");
    const after = (await admin.api.get(path)).body.data;
    const url = (id: string | undefined) => `https://git.example.com/platform/${repository}/commit/${id}`;
    expect(after.map(({ commit }: { commit: unknown }) => commit)).toEqual(ids.map((id) => ({ id, url: url(id) })));
    const one = await admin.api.get(
      `/apps/${namespace}/front/deployments/${after[0].deployment_id}?project_id=${project_id}`,
    );
    expect(one.body.commit).toEqual(after[0].commit);
  });

  test("[GO6] nothing is kept or written for an organization that has switched GitOps off", async () => {
    const { org, admin, cluster, made } = await place();
    await setGitops(admin, org);
    await inSync(admin, cluster);
    const repository = await repositoryOf(world, cluster);
    await setGitops(admin, org, null);
    await made("front");
    expect(await db.selectFrom("gitops_outbox").selectAll().where("org_id", "=", org).execute()).toEqual([]);
    expect(await statusOf(admin, cluster)).toMatchObject({ state: "off", head: null });
    await setGitops(admin, org);
    await inSync(admin, cluster);
    expect(await subjects(git, repository)).toEqual(["Write the whole state", "Write the whole state"]);
  });
});

import { type Client, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { loadCatalog } from "../catalog/catalog.adapter.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

async function cliToken(...scopes: string[]): Promise<Client> {
  const { token } = (await world.admin.api.post("/cli-tokens", { name: "installer", scopes })).body;
  return world.anyone.with({ authorization: `Bearer ${token}` });
}

describe("GET /bundles", () => {
  test("[BD1] GET /bundles lists every bundle with HA tiers and profiles, oldest first", async () => {
    const person = await world.person();
    const { status, body } = await person.api.get("/bundles");
    expect(status).toBe(200);
    expect(body).toEqual({
      total_count: 3,
      data: [
        { version: "1.2", ha_tiers: ["single-server"], profiles: ["gitops", "observability", "registry"] },
        {
          version: "1.3",
          ha_tiers: ["single-server", "ha"],
          profiles: ["gitops", "observability", "registry", "security"],
        },
        {
          version: "1.4",
          ha_tiers: ["single-server", "ha"],
          profiles: ["build", "gitops", "observability", "security"],
        },
      ],
    });
  });

  test("[BD8] bundles are read with a CLI token that has bundles:read or read, and with no other", async () => {
    const readers = [await cliToken("bundles:read"), await cliToken("read")];
    const other = await cliToken("clusters:read");
    for (const path of ["/bundles", "/bundles/1.4", "/bundles/1.3/diff/1.4"]) {
      for (const reader of readers) expect((await reader.get(path)).status).toBe(200);
      expect(await other.get(path)).toMatchObject({
        status: 403,
        body: { detail: "The CLI token lacks the scope bundles:read or read." },
      });
      expect((await world.anyone.get(path)).status).toBe(401);
    }
  });
});

describe("GET /bundles/{version}", () => {
  test("[BD2] GET /bundles/{version} gives the manifest as it is in the catalog", async () => {
    for (const manifest of (await loadCatalog()).bundles) {
      const { status, body } = await world.admin.api.get(`/bundles/${manifest.bundle}`);
      expect(status).toBe(200);
      expect(body).toEqual(manifest);
    }
  });

  test("[BD10] a manifest has pins and operating systems as text, and the groups that installers read", async () => {
    for (const { version } of (await world.admin.api.get("/bundles")).body.data) {
      const { core, os, limits, upgrade, backup, profiles } = (await world.admin.api.get(`/bundles/${version}`)).body;
      const components = Object.values(profiles as Record<string, { components: object }>);
      const pins = [core, ...components.map((profile) => profile.components)].flatMap(Object.values);
      for (const text of [...pins, ...os.supported]) expect(typeof text).toBe("string");
      expect(os.supported).toContain("ubuntu-24.04");
      expect([limits.timeouts, limits.resources, upgrade.tools, backup.defaults]).toEqual(
        Array.from({ length: 4 }, () => expect.any(Object)),
      );
    }
  });

  test.each(["9.9", "1.40", "01.4", "latest", "constructor", "1.4%2F.."])(
    "[BD2] GET /bundles/{version} of %s is a 404",
    async (version) => {
      const unknown = { status: 404, body: { detail: "Bundle not found." } };
      expect(await world.admin.api.get(`/bundles/${version}`)).toMatchObject(unknown);
    },
  );
});

describe("GET /bundles/{version}/diff/{other}", () => {
  test("[BD7] GET /bundles/{version}/diff/{other} compares any two bundles, in either direction", async () => {
    const forth = await world.admin.api.get("/bundles/1.2/diff/1.4");
    const back = await world.admin.api.get("/bundles/1.4/diff/1.2");
    expect(forth).toMatchObject({
      status: 200,
      body: {
        from: "1.2",
        to: "1.4",
        profiles: { added: ["build", "security"], removed: ["registry"] },
        os: { added: ["debian-13", "rocky-10", "rocky-9"], removed: ["opensuse-leap-15.6"] },
        ha_tiers: { added: ["ha"], removed: [] },
      },
    });
    expect(forth.body.core).toContainEqual({
      component: "external-secrets",
      from: null,
      to: "0.20.4",
    });
    expect(forth.body.settings).toContainEqual({ path: "limits.nodes.max_agents", from: 20, to: 100 });
    expect(forth.body.settings).toContainEqual({ path: "backup.defaults.etcd.keep", from: null, to: 24 });
    expect(back.body.profiles).toMatchObject({ added: ["registry"], removed: ["build", "security"] });
    expect(back.body.settings).toContainEqual({ path: "backup.defaults.etcd.keep", from: 24, to: null });
  });

  test("[BD2] a diff with an unknown bundle on either side is a 404", async () => {
    const unknown = { status: 404, body: { detail: "Bundle not found." } };
    expect(await world.admin.api.get("/bundles/1.4/diff/9.9")).toMatchObject(unknown);
    expect(await world.admin.api.get("/bundles/9.9/diff/1.4")).toMatchObject(unknown);
  });
});

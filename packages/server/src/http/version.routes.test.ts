import { CONTRACT } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const stamped = await startWorld({ beside: world, env: { BINNACLE_BUILD: "4f2a1c9" } });
afterAll(async () => {
  await stamped.stop();
  await world.stop();
});

describe("GET /version", () => {
  test("[VE1] GET /version returns the contract as an integer from 1 on", async () => {
    const { status, body } = await world.admin.api.get("/version");
    expect(status).toBe(200);
    expect(body.contract).toBe(CONTRACT);
    expect(Number.isInteger(CONTRACT) && CONTRACT >= 1).toBe(true);
  });

  test("[VE2] GET /version returns the build that was stamped, and null where none was", async () => {
    expect((await world.admin.api.get("/version")).body).toEqual({ contract: CONTRACT, build: null });
    expect((await stamped.admin.api.get("/version")).body).toEqual({ contract: CONTRACT, build: "4f2a1c9" });
  });

  test("[VE3] GET /version accepts a user's access token and a CLI token that may read bundles", async () => {
    const withScopes = async (scopes: string[]) => {
      const { token } = (await world.admin.api.post("/cli-tokens", { name: "laptop", scopes })).body;
      return (await world.anyone.get("/version", { headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect((await world.anyone.get("/version")).status).toBe(401);
    expect((await (await world.person()).api.get("/version")).status).toBe(200);
    expect(await withScopes(["bundles:read"])).toBe(200);
    expect(await withScopes(["clusters:read", "clusters:register", "install:report"])).toBe(403);
  });
});

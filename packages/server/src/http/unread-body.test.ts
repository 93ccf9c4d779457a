import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

let world: World;
beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
});
afterAll(() => world.stop());

/** A request that announces a body and sends nothing of it: whatever is answered, was answered unread. */
function announced(token: string, body: Record<string, string>, path = "/orgs"): ClientRequest {
  const sent = request(`${world.url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...body },
  });
  sent.on("error", () => undefined);
  onTestFinished(() => void sent.destroy());
  sent.flushHeaders();
  return sent;
}

async function answerTo(sent: ClientRequest): Promise<{ status: number | undefined; body: unknown }> {
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const text = await answer.setEncoding("utf8").reduce((whole, chunk) => whole + chunk, "");
  return { status: answer.statusCode, body: JSON.parse(text) };
}

const REFUSED = { status: 401, body: { detail: "User not authenticated." } };
const LENGTH = { "content-length": "1000000" };

describe("a body is not read", () => {
  test("[CV45] of a session that was ended", async () => {
    const { api, token, cookie } = await world.person();
    expect((await api.with({ cookie }).post("/logout")).status).toBeLessThan(300);
    expect(await answerTo(announced(token, LENGTH))).toEqual(REFUSED);
    expect(await answerTo(announced(token, { "transfer-encoding": "chunked" }))).toEqual(REFUSED);
  });

  test("[CV45] of a user who was deleted", async () => {
    const { api, id, token } = await world.person();
    expect((await api.delete(`/user/${id}`)).status).toBe(204);
    expect(await answerTo(announced(token, LENGTH))).toEqual(REFUSED);
  });

  test("[CV45] of a CLI token that was revoked, or is none", async () => {
    const { api } = await world.person();
    const made = await api.post("/cli-tokens", { name: "ci", scopes: ["clusters:register"] });
    const path = `/orgs/${world.demoOrgId}/clusters`;
    await api.delete(`/cli-tokens/${made.body.id}`);
    expect(await answerTo(announced(made.body.token, LENGTH, path))).toEqual(REFUSED);
    expect(await answerTo(announced(`${made.body.token}x`, LENGTH, path))).toEqual(REFUSED);
  });

  test("[CV45] of a media type that the operation does not take", async () => {
    const sent = announced(world.admin.token, { ...LENGTH, "content-type": "text/plain" });
    expect(await answerTo(sent)).toMatchObject({ status: 415 });
  });

  test("[CV45] and is read of everybody else", async () => {
    const sent = announced(world.admin.token, { "content-length": "2" });
    sent.end("{}");
    expect(await answerTo(sent)).toMatchObject({ status: 422 });
  });
});

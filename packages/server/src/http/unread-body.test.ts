import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
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
  test("[CV45] the body of a request of an ended session is not read", async () => {
    const { api, token, cookie } = await world.person();
    expect((await api.with({ cookie }).post("/logout")).status).toBeLessThan(300);
    expect(await answerTo(announced(token, LENGTH))).toEqual(REFUSED);
    expect(await answerTo(announced(token, { "transfer-encoding": "chunked" }))).toEqual(REFUSED);
  });

  test("[CV45] the body of a request of a deleted user is not read", async () => {
    const { api, id, token } = await world.person();
    expect((await api.delete(`/user/${id}`)).status).toBe(204);
    expect(await answerTo(announced(token, LENGTH))).toEqual(REFUSED);
  });

  test("[CV45] the body of a request with a revoked or invalid CLI token is not read", async () => {
    const { api } = await world.person();
    const made = await api.post("/cli-tokens", { name: "ci", scopes: ["clusters:register"] });
    const path = `/orgs/${world.demoOrgId}/clusters`;
    await api.delete(`/cli-tokens/${made.body.id}`);
    expect(await answerTo(announced(made.body.token, LENGTH, path))).toEqual(REFUSED);
    expect(await answerTo(announced(`${made.body.token}x`, LENGTH, path))).toEqual(REFUSED);
  });

  test("[CV45] a body of a media type that the operation does not accept is not read", async () => {
    const sent = announced(world.admin.token, { ...LENGTH, "content-type": "text/plain" });
    expect(await answerTo(sent)).toMatchObject({ status: 415 });
  });

  test("[CV45] the problems of a small body are told only to a session that is alive", async () => {
    const { api, token, cookie } = await world.person();
    const small = { "content-length": "2" };
    const answers = async () => {
      const [malformed, unreadable] = [announced(token, small), announced(token, small)];
      malformed.end("{}");
      unreadable.end("}{");
      const other = announced(token, { ...small, "content-type": "text/plain" });
      return (await Promise.all([malformed, unreadable, other].map(answerTo))).map(({ status }) => status);
    };
    expect(await answers()).toEqual([422, 422, 415]);
    await api.with({ cookie }).post("/logout");
    expect(await answers()).toEqual([401, 401, 401]);
    const unneeded = announced(token, { ...small, "content-type": "text/plain" }, "/login");
    expect(await answerTo(unneeded)).toMatchObject({ status: 415 });
  });

  test("[CV45] the body of an authenticated request is read", async () => {
    const sent = announced(world.admin.token, { "content-length": "2" });
    sent.end("{}");
    expect(await answerTo(sent)).toMatchObject({ status: 422 });
  });
});

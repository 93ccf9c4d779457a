import { afterAll, describe, expect, test, vi } from "vitest";
import type { Operation } from "../../packages/contract/src/index.ts";
import { ACCESS_TOPIC, concerns } from "../../packages/server/src/access/access-change.ts";
import { accessOfCredentials } from "../../packages/server/src/access/visibility.store.ts";
import { WELCOMING_CLOUD } from "../../packages/server/src/clusters/clusters.fixture.ts";
import { describedRoutes } from "../../packages/server/src/routes.ts";
import type { Sending } from "../world/client.ts";
import { startWorld } from "../world/world.ts";
import { CHANGES, type Request, UNRECORDED } from "./changes.ts";

const routes = describedRoutes();
const changing = routes.map(({ operation }) => operation).filter(({ method }) => method !== "GET");
const recorded = changing.filter(({ id }) => !(id in UNRECORDED));
const unrecorded = changing.filter(({ id }) => id in UNRECORDED);

/** The changes of access that were announced since the last request was sent. */
const accessChanges: unknown[] = [];

const world = await startWorld({ env: { BINNACLE_CHART_HOSTS: "127.0.0.1" }, clouds: { aws: WELCOMING_CLOUD } });
world.bus.subscribe(ACCESS_TOPIC, (change) => accessChanges.push(change));
afterAll(() => world.stop());

async function carryOut(operation: Operation, known: typeof CHANGES) {
  const prepare = known[operation.id];
  if (!prepare) throw new Error(`Say in changes.ts how ${operation.id} is made to succeed.`);
  const { api, path, sending = {} }: Request = await prepare(world);
  const before = await accessBySession();
  accessChanges.length = 0;
  const answer = await api.send(operation.method, path, sending);
  const successes = [operation.success[0], operation.otherSuccess?.[0]];
  expect(successes, JSON.stringify(answer.body)).toContain(answer.status);
  const requestId = answer.headers.get("x-request-id");
  const entries = await world.database.kysely
    .selectFrom("audit_log")
    .selectAll()
    .where("request_id", "=", requestId)
    .execute();
  const after = new Map((await accessBySession()).map(({ credentialId, access }) => [credentialId, access]));
  const touched = before.filter(({ credentialId, access }) => after.get(credentialId) !== access);
  return { entries, secrets: [...secretsOf(sending), ...secretsIn(answer.body)], touched };
}

/** Returns what the user of every session may see, as text. */
async function accessBySession() {
  const { kysely: db } = world.database;
  const sessions = await db.selectFrom("sessions").select(["id", "user_id"]).execute();
  const ids = sessions.map(({ id }) => id);
  const found = await accessOfCredentials(db)(ids, world.clock.now());
  return sessions.map(({ id, user_id }) => {
    const { isSuperuser = false, orgRoles = [], clusterRoles = [], projectRoles = [] } = found.get(id) ?? {};
    const roles = [...orgRoles, ...clusterRoles, ...projectRoles].map(String).sort();
    return { credentialId: id, userId: user_id, access: JSON.stringify([found.has(id), isSuperuser, roles]) };
  });
}

type Touched = Awaited<ReturnType<typeof carryOut>>["touched"];

const isAnnounced = (touched: Touched) =>
  vi.waitFor(() => {
    const missed = touched.filter((session) => !accessChanges.some((change) => concerns(change, session)));
    expect(missed).toEqual([]);
  });

/** Codes of devices are secret; those of errors are words. */
const SECRET_FIELD = /password|secret|(?<!error)_code$|^(access_|refresh_)?token$/;

const secretsOf = ({ body, form, headers }: Sending) => [...secretsIn(body), ...secretsIn(form), ...secretsIn(headers)];

/** Returns the values of every field whose name suggests a secret. */
function secretsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "string" && (SECRET_FIELD.test(name) || name === "cookie") ? [inner] : secretsIn(inner),
  );
}

/** Written by hand, so that a comparison which finds no change of access fails. */
const CHANGE_ACCESS = [
  "logout",
  "endSession",
  "setUserDisabled",
  "deleteUser",
  "addMember",
  "changeMember",
  "removeMember",
  ...["Cluster", "Project"].flatMap((place) => [`grant${place}Role`, `replace${place}Role`, `revoke${place}Role`]),
];

describe("a successful change", () => {
  test.each(recorded.map((operation) => [operation.id, operation] as const))(
    "[AL4] [AL6] [AC16] %s leaves an audit entry with its request id and without secrets, and announces whose access it has changed",
    async (id, operation) => {
      const { entries, secrets, touched } = await carryOut(operation, CHANGES);
      if (CHANGE_ACCESS.includes(id)) expect(touched.length).toBeGreaterThan(0);
      // A deleted place ends the roles on it, and nothing about it is announced any more.
      if (!id.startsWith("delete") || id === "deleteUser") await isAnnounced(touched);
      expect(entries.length).toBeGreaterThanOrEqual(1);
      for (const { action, actor_id, source_address } of entries) {
        expect(action).toMatch(/^[a-z_]+\.[a-z_]+$/);
        // A machine is nobody's; the entry says which one it was.
        if (id === "bootstrapNode") expect(actor_id).toBeNull();
        else expect(actor_id).not.toBeNull();
        expect(source_address).toBe("127.0.0.1");
      }
      const written = JSON.stringify(entries);
      expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
    },
  );

  test("[AL6] the search for secrets in requests finds the secrets that are there", () => {
    const body = { password: "p", deep: [{ token: "t" }], device_code: "d", scopes: ["s"], token_type: "bearer" };
    expect(secretsOf({ body, headers: { cookie: "c", accept: "a" } })).toEqual(["p", "t", "d", "c"]);
  });
});

describe("what changes nothing that anybody has", () => {
  test.each(unrecorded.map((operation) => [operation.id, operation] as const))(
    "[AL10] %s leaves no audit entry",
    async (_, operation) => {
      expect((await carryOut(operation, UNRECORDED)).entries).toEqual([]);
    },
  );
});

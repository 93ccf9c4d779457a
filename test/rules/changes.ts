import { randomBytes } from "node:crypto";
import type { Client, Sending } from "../world/client.ts";
import type { World } from "../world/world.ts";

/** A request that succeeds, with everything it needs already there. */
export interface Request {
  readonly api: Client;
  readonly path: string;
  readonly sending?: Sending;
}
type Prepare = (world: World) => Promise<Request>;

const word = () => `u${randomBytes(6).toString("hex")}`;
const NOBODY_IN_PARTICULAR = { name: "Somebody", password: "a long enough secret" };
const TOKEN = { name: "laptop", scopes: ["clusters:read"] };

async function startedDevice(world: World) {
  const body = { requested_scopes: TOKEN.scopes, client_name: TOKEN.name };
  return (await world.anyone.post("/auth/cli/device", body)).body;
}

async function orgWithMember(world: World) {
  const org = await world.org();
  return { org, person: await world.person({ org }) };
}

async function limit({ admin }: World): Promise<string> {
  const body = { path: `/${word()}`, limit: 1, period: 1 };
  return `/tier/free/rate_limit/${(await admin.api.post("/tier/free/rate_limit", body)).body.id}`;
}

/** How each operation that changes something is made to succeed, by the id of the operation. */
export const CHANGES: Readonly<Record<string, Prepare>> = {
  login: async (world) => {
    const { username, password } = await world.person();
    return { api: world.anyone, path: "/login", sending: { form: { username, password } } };
  },
  logout: async (world) => {
    const { api, cookie } = await world.person();
    return { api, path: "/logout", sending: { headers: { cookie } } };
  },

  createUser: async ({ admin }) => {
    const username = word();
    const body = { ...NOBODY_IN_PARTICULAR, username, email: `${username}@example.com` };
    return { api: admin.api, path: "/user", sending: { body } };
  },
  updateUser: async (world) => {
    const { api, id, password } = await world.person();
    const body = { name: "Renamed", password: "another long secret", current_password: password };
    return { api, path: `/user/${id}`, sending: { body } };
  },
  deleteUser: async (world) => {
    const { api, id } = await world.person();
    return { api, path: `/user/${id}` };
  },
  setUserTier: async (world) => {
    const { id } = await world.person();
    return { api: world.admin.api, path: `/user/${id}/tier`, sending: { body: { tier: "pro" } } };
  },

  createCliToken: async ({ admin }) => ({ api: admin.api, path: "/cli-tokens", sending: { body: TOKEN } }),
  deleteCliToken: async ({ admin }) => {
    const { id } = (await admin.api.post("/cli-tokens", TOKEN)).body;
    return { api: admin.api, path: `/cli-tokens/${id}` };
  },
  decideDeviceLogin: async (world) => {
    const { user_code } = await startedDevice(world);
    const sending = { body: { user_code, approved: true } };
    return { api: world.admin.api, path: "/auth/cli/device/approval", sending };
  },
  claimDeviceToken: async (world) => {
    const { user_code, device_code } = await startedDevice(world);
    await world.admin.api.post("/auth/cli/device/approval", { user_code, approved: true });
    return { api: world.anyone, path: "/auth/cli/device/token", sending: { body: { device_code } } };
  },

  createOrg: async ({ admin }) => ({ api: admin.api, path: "/orgs", sending: { body: { name: word() } } }),
  updateOrg: async (world) => {
    const org = await world.org();
    return { api: world.admin.api, path: `/orgs/${org}`, sending: { body: { name: word() } } };
  },
  deleteOrg: async (world) => ({ api: world.admin.api, path: `/orgs/${await world.org()}` }),
  updateOrgSettings: async (world) => {
    const org = await world.org();
    const body = { settings: { drift_policy: "report", chat: { token: "a secret of theirs" } } };
    return { api: world.admin.api, path: `/org/settings?org_id=${org}`, sending: { body } };
  },
  addMember: async (world) => {
    const [org, { email }] = [await world.org(), await world.person()];
    return { api: world.admin.api, path: `/orgs/${org}/members`, sending: { body: { email, role: "member" } } };
  },
  changeMember: async (world) => {
    const { org, person } = await orgWithMember(world);
    return { api: world.admin.api, path: `/orgs/${org}/members/${person.id}`, sending: { body: { role: "admin" } } };
  },
  removeMember: async (world) => {
    const { org, person } = await orgWithMember(world);
    return { api: world.admin.api, path: `/orgs/${org}/members/${person.id}` };
  },

  createRateLimit: async ({ admin }) => {
    const body = { path: `/${word()}`, limit: 1, period: 1 };
    return { api: admin.api, path: "/tier/free/rate_limit", sending: { body } };
  },
  updateRateLimit: async (world) => ({
    api: world.admin.api,
    path: await limit(world),
    sending: { body: { limit: 2 } },
  }),
  deleteRateLimit: async (world) => ({ api: world.admin.api, path: await limit(world) }),

  createTask: async ({ admin }) => ({ api: admin.api, path: "/tasks/task", sending: { body: { kind: "ping" } } }),
};

/** Operations that are no GET and leave no entry; why is rule AL10. */
export const UNRECORDED: Readonly<Record<string, Prepare>> = {
  refreshAccessToken: async ({ anyone, admin }) => ({
    api: anyone,
    path: "/refresh",
    sending: { headers: { cookie: admin.cookie } },
  }),
  startDeviceLogin: async ({ anyone }) => ({
    api: anyone,
    path: "/auth/cli/device",
    sending: { body: { requested_scopes: TOKEN.scopes, client_name: TOKEN.name } },
  }),
};

import {
  type BinnacleError,
  type Client,
  createClient,
  Forbidden,
  Invalid,
  type Me,
  type SessionTokens,
  Unauthenticated,
  Unreachable,
} from "@binnacle/client";
import { type Call, type Command, command, type Given, local, textOf, verb } from "../command.ts";
import { noteContract } from "../contract.ts";
import { CliError, EXIT } from "../host.ts";
import { column, view } from "../output.ts";
import {
  type Context,
  changeState,
  cleanUrl,
  contextNameFor,
  existing,
  renamed,
  type State,
  withContext,
  withoutContext,
} from "../state.ts";

/** What a token is given for where the server does not know sessions for devices. */
const SCOPES = ["bundles:read", "clusters:read", "clusters:register", "install:report"] as const;
const SLOWER_BY_MS = 5000;

const ME = view<Me>(
  "username",
  column("USERNAME", "username"),
  column("NAME", "name"),
  column("EMAIL", "email"),
  column("SUPERUSER", "is_superuser"),
  {
    title: "ORGANIZATIONS",
    of: ({ organizations }) => organizations.map(({ name, role }) => `${name} (${role})`).join(", "),
  },
  column("TIER", "tier"),
  {
    title: "MAY",
    // A control plane that is older does not say it.
    of: ({ token }: { readonly token?: Me["token"] }) =>
      token ? `what you may, by a token of ${token.scopes.join(" and ")}` : token === null ? "all that you may" : null,
  },
  {
    title: "ONLY IN",
    of: ({ token }: { readonly token?: Me["token"] }) =>
      token?.project_id ? `project ${token.project_id}` : token?.org_id ? `organization ${token.org_id}` : null,
  },
  {
    title: "UNTIL",
    of: ({ token }: { readonly token?: Me["token"] }) => token?.expires_at.slice(0, 16).replace("T", " "),
  },
);

type Credential = Pick<Context, "token" | "session" | "username">;

export const ACCOUNT_COMMANDS: readonly Command[] = [
  command("startDeviceLogin", "login [url]", "Sign in to a control plane, in the browser unless told otherwise", {
    also: ["claimDeviceToken", "login", "getMe", "refreshAccessToken"],
    fields: [
      { from: "--username <name>", help: "sign in with a password, which is asked for" },
      { from: "--password-stdin", kind: "flag", help: "read the password from standard input" },
      { from: "--token-stdin", kind: "flag", help: "read a CLI token from standard input" },
      { from: "--no-browser", kind: "flag", help: "show the address instead of opening it" },
      { from: "--name <context>", help: "how to call this control plane; its host unless given" },
    ],
    run: login,
  }),
  command("logout", "logout", "Revoke the session or token of the context, and forget it", {
    also: ["revokePresentedCliToken"],
    run: logout,
  }),
  verb("getMe", "whoami", "Show who you are, and where", { view: ME }),
  verb("getMyAccess", "access", "Show your roles and the places they hold in"),
  local("context list", "List the control planes you have signed in to", async (call) => {
    call.list(CONTEXT, contextRows(call.state));
  }),
  local(
    "context use <name>",
    "Use a control plane from now on; --org and --project are kept with it",
    async (call, { args }) => {
      const name = args["name"] ?? "";
      const context = existing(call.state, name);
      const { org, project } = call.asked;
      const kept = { ...context, ...(org === undefined ? {} : { org }), ...(project === undefined ? {} : { project }) };
      await changeState(call.host, (state) => withContext(state, name, kept));
      call.info(`Using ${name} (${context.url}).`);
    },
  ),
  local("context rename <from> <to>", "Give a context another name", async (call, { args }) => {
    await changeState(call.host, (state) => renamed(state, args["from"] ?? "", args["to"] ?? ""));
    call.info(`${args["from"]} is called ${args["to"]} now.`);
  }),
  local(
    "context delete <name>",
    "Forget a control plane; `logout` before revokes the credential",
    async (call, { args }) => {
      const name = args["name"] ?? "";
      existing(call.state, name);
      await changeState(call.host, (state) => withoutContext(state, name));
      call.info(`Forgot ${name}.`);
    },
  ),
];

type ContextRow = ReturnType<typeof contextRows>[number];

const contextRows = ({ current, contexts }: State) =>
  Object.entries(contexts).map(([name, { url, username, token, session, org, project }]) => ({
    name,
    url,
    username: username ?? null,
    credential: token ? "token" : session ? "session" : null,
    org: org ?? null,
    project: project ?? null,
    current: name === current,
  }));

const CONTEXT = view<ContextRow>(
  "name",
  { title: "", of: ({ current }) => (current ? "*" : " ") },
  column("NAME", "name"),
  column("URL", "url"),
  column("USER", "username"),
  column("CREDENTIAL", "credential"),
  column("ORG", "org"),
  column("PROJECT", "project"),
);

async function login(call: Call, { args, options }: Given): Promise<undefined> {
  const { host, state } = call;
  const known = state.current === null ? undefined : state.contexts[state.current]?.url;
  const given = args["url"] ?? call.asked.url ?? host.env["BINNACLE_URL"] ?? known;
  if (!given)
    throw new CliError(
      "Give the address of the control plane.",
      EXIT.usage,
      "binnacle login https://binnacle.example.com",
    );
  const url = cleanUrl(given);
  const { protocol, hostname } = new URL(url);
  if (protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(hostname)) {
    call.info(`warning: ${url} is not encrypted: others on the way can read your credentials.`);
  }
  const credential = await credentialOf(call, url, options);
  const name = textOf(options["name"]) ?? contextNameFor(url, state);
  const { org, project } = state.contexts[name]?.url === url ? state.contexts[name] : {};
  const kept: Context = { url, ...credential, ...(org ? { org } : {}), ...(project ? { project } : {}) };
  await changeState(host, (before) => withContext(before, name, kept));
  call.info(
    `Signed in to ${url}${credential.username ? ` as ${credential.username}` : ""}. The context is called ${name}.`,
  );
  const { token, session } = credential;
  const client = createClient({ url, fetch: call.fetch, ...(token ? { token } : { session: session ?? {} }) });
  await noteContract(host, client, name).catch(() => undefined);
}

function credentialOf(call: Call, url: string, options: Given["options"]): Promise<Credential> {
  if (options["tokenStdin"]) return byToken(call, url);
  if (typeof options["username"] === "string")
    return byPassword(call, url, options["username"], options["passwordStdin"] === true);
  if (options["passwordStdin"]) throw new CliError("--password-stdin goes with --username.");
  return byDevice(call, url, options["browser"] !== false);
}

async function byToken({ host, fetch }: Call, url: string): Promise<Credential> {
  const token = (await host.readInput()).trim();
  if (!token || /\s/.test(token)) throw new CliError("Standard input holds no token.");
  const username = await nameBehind(createClient({ url, token, fetch }));
  return { token, ...(username ? { username } : {}) };
}

/** A token without the scope to read its user is good all the same: the server knows it. */
async function nameBehind(client: Client): Promise<string | null> {
  const me = await client.attempt("getMe");
  if (me.ok) return me.data.username;
  if ((me.error as BinnacleError) instanceof Forbidden) return null;
  if (me.error instanceof Unauthenticated)
    throw new CliError("The control plane does not accept this token.", EXIT.refused);
  throw me.error;
}

async function byPassword({ host, fetch }: Call, url: string, username: string, isPiped: boolean): Promise<Credential> {
  if (!isPiped && !host.isInteractive)
    throw new CliError("Nobody can be asked for the password here.", EXIT.usage, "add --password-stdin");
  const password = isPiped
    ? (await host.readInput()).replace(/\r?\n$/, "")
    : await host.password(`Password of ${username}`);
  if (password === null) throw new CliError("Nothing was done.", EXIT.interrupted);
  const client = createClient({ url, fetch });
  await client.login({ username, password }, { signal: host.interrupted });
  return { session: client.session ?? {}, username: (await client.call("getMe")).username };
}

async function byDevice(call: Call, url: string, opensBrowser: boolean): Promise<Credential> {
  const { host } = call;
  let refreshToken: string | undefined;
  // The session's refresh token comes as a cookie, which the client leaves to browsers.
  const fetch: typeof call.fetch = async (input, init) => {
    const response = await call.fetch(input, init);
    for (const cookie of response.headers.getSetCookie())
      refreshToken = /^refresh_token=([^;]+)/.exec(cookie)?.[1] ?? refreshToken;
    return response;
  };
  const client = createClient({ url, fetch });
  const device = await startDevice(client, `binnacle on ${host.hostname}`.slice(0, 64).trim());
  const page = device.verification_uri_complete;
  call.info(`Your code is ${device.user_code}. Approve it at\n\n  ${page}\n`);
  if (opensBrowser && host.isInteractive && (await host.openPage(page)))
    call.info("The page is opening in your browser. Waiting …");
  else call.info("Waiting for the approval …");
  let intervalMs = device.interval * 1000;
  const endMs = host.now() + device.expires_in * 1000;
  while (host.now() < endMs) {
    await host.sleep(intervalMs, host.interrupted);
    const claimed = await client.attempt(
      "claimDeviceToken",
      { body: { device_code: device.device_code } },
      { signal: host.interrupted },
    );
    if (claimed.ok) return claimedBy(claimed.data, url, call, refreshToken);
    const { error } = claimed;
    if (error.code === "slow_down") intervalMs += SLOWER_BY_MS;
    else if (error.code === "access_denied") throw new CliError("The login was denied.", EXIT.refused);
    else if (error.code === "expired_token") break;
    else if (error.code !== "authorization_pending" && !(error instanceof Unreachable)) throw error;
  }
  throw new CliError("Nobody approved the login in time.", EXIT.timedOut, "binnacle login");
}

/** Asks for a session; a server that knows only tokens for devices refuses the field. */
async function startDevice(client: Client, client_name: string) {
  const requested_scopes = [...SCOPES];
  const asked = { client_name, requested_scopes, kind: "session" as const };
  try {
    return await client.call("startDeviceLogin", { body: asked });
  } catch (error) {
    if (!(error instanceof Invalid) || !error.items.some(({ loc }) => loc[1] === "kind")) throw error;
    return client.call("startDeviceLogin", { body: { client_name, requested_scopes } });
  }
}

async function claimedBy(
  answer: object,
  url: string,
  { fetch }: Call,
  refreshToken: string | undefined,
): Promise<Credential> {
  const { token, access_token: accessToken } = answer as { token?: string; access_token?: string };
  const session: SessionTokens = { ...(accessToken ? { accessToken } : {}), ...(refreshToken ? { refreshToken } : {}) };
  const credential = token ? { token } : { session };
  const username = await nameBehind(createClient({ url, fetch, ...credential }));
  return { ...credential, ...(username ? { username } : {}) };
}

async function logout(call: Call): Promise<undefined> {
  const { name, credential, url } = call.target;
  if (!credential || name === null) {
    throw new CliError(
      "There is no credential of a context to revoke.",
      EXIT.refused,
      call.host.env["BINNACLE_TOKEN"] ? "unset BINNACLE_TOKEN" : null,
    );
  }
  try {
    if ("session" in credential) await call.client.logout();
    else await call.client.call("revokePresentedCliToken");
  } catch (error) {
    // One that is not accepted any more needs no revocation; one that could not be revoked must not be forgotten.
    if (error instanceof Invalid)
      call.info("warning: this server cannot revoke the token by itself: use `binnacle tokens delete`.");
    else if (!(error instanceof Unauthenticated)) throw error;
  }
  await changeState(call.host, (state) => {
    const {
      token: _token,
      session: _session,
      username: _username,
      contract: _contract,
      ...rest
    } = existing(state, name);
    return { ...state, contexts: { ...state.contexts, [name]: rest } };
  });
  call.info(`Signed out of ${url}.`);
}

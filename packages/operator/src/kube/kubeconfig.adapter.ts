import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { promisify } from "node:util";
import { type Identity, inClusterServer, type KubeAccess, parseExecCredential } from "./kube-access.ts";
import { type ExecPlugin, KubeconfigError, type KubeconfigUser, parseKubeconfig, type Source } from "./kubeconfig.ts";

const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Kubernetes rotates a token well before it expires, so a minute's delay in noticing does no harm. */
const TOKEN_FILE_KEPT_MS = 60_000;

/** A credential that runs out while a request is on its way would be refused. */
const EXPIRY_MARGIN_MS = 10_000;

const EXEC_TIMEOUT_MS = 60_000;

export interface AccessOptions {
  readonly now?: () => number;
  readonly serviceAccountFolder?: string;
}

/** The way to the cluster: the file that `KUBECONFIG` names, else that of the pod we run in. */
export async function kubeAccessFrom(
  env: Readonly<Record<string, string | undefined>>,
  { now = Date.now, serviceAccountFolder = SERVICE_ACCOUNT_FOLDER }: AccessOptions = {},
): Promise<KubeAccess> {
  const path = env["KUBECONFIG"];
  if (path) return accessByKubeconfig(path, now);
  const server = inClusterServer(env);
  if (server) return accessByServiceAccount(server, serviceAccountFolder, now);
  throw new KubeconfigError("There is no way to a cluster: set KUBECONFIG to a file, or run in a pod.");
}

async function accessByKubeconfig(path: string, now: () => number): Promise<KubeAccess> {
  if (path.includes(delimiter)) throw new KubeconfigError("KUBECONFIG names several files; name one.");
  const file = resolve(path);
  const config = parseKubeconfig(await contentOf(file), file);
  return {
    server: config.server,
    ca: await textOf(config.ca),
    isInsecure: config.isInsecure,
    serverName: config.serverName,
    namespace: config.namespace,
    identity: config.user.exec ? identityByExec(config.user.exec, now) : identityByFiles(config.user, now),
  };
}

async function accessByServiceAccount(server: string, folder: string, now: () => number): Promise<KubeAccess> {
  const user = { token: { file: resolve(folder, "token") }, certificate: null, key: null };
  return {
    server,
    ca: await contentOf(resolve(folder, "ca.crt")),
    isInsecure: false,
    serverName: null,
    namespace: (await contentOf(resolve(folder, "namespace"))).trim(),
    identity: identityByFiles(user, now),
  };
}

function identityByFiles(user: Omit<KubeconfigUser, "exec">, now: () => number): KubeAccess["identity"] {
  return kept(now, async () => ({
    token: (await textOf(user.token))?.trim() ?? null,
    certificate: await textOf(user.certificate),
    key: await textOf(user.key),
    goodUntilMs: now() + TOKEN_FILE_KEPT_MS,
  }));
}

function identityByExec(plugin: ExecPlugin, now: () => number): KubeAccess["identity"] {
  return kept(now, async () => {
    const { expiresAtMs, ...identity } = await askPlugin(plugin);
    return {
      ...identity,
      goodUntilMs: expiresAtMs === null ? Number.POSITIVE_INFINITY : expiresAtMs - EXPIRY_MARGIN_MS,
    };
  });
}

/** Fetches again what has run out or was refused; callers meanwhile share one fetch. */
function kept(now: () => number, fetch: () => Promise<Identity & { goodUntilMs: number }>): KubeAccess["identity"] {
  let current: (Identity & { goodUntilMs: number }) | null = null;
  let fetching: ReturnType<typeof fetch> | null = null;
  return async ({ isRefused = false } = {}) => {
    if (current && !isRefused && now() < current.goodUntilMs) return current;
    fetching ??= fetch().finally(() => {
      fetching = null;
    });
    current = await fetching;
    return current;
  };
}

async function askPlugin({ apiVersion, command, args, env, installHint }: ExecPlugin) {
  const request = { apiVersion, kind: "ExecCredential", spec: { interactive: false } };
  const asked = promisify(execFile)(command, args, {
    env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(request) },
    timeout: EXEC_TIMEOUT_MS,
    maxBuffer: 1024 * 1024,
  });
  // The output of the program may hold a secret, so only its exit code is reported.
  const { stdout } = await asked.catch(({ code, signal }: { code?: unknown; signal?: unknown }) => {
    throw new KubeconfigError(
      `The credential plugin ${command} failed (${String(code ?? signal)}).${installHint ? ` ${installHint}` : ""}`,
    );
  });
  const credential = parseExecCredential(stdout);
  if (!credential) throw new KubeconfigError(`The credential plugin ${command} printed no credential.`);
  return credential;
}

async function textOf(source: Source | null): Promise<string | null> {
  if (source === null) return null;
  return "text" in source ? source.text : contentOf(source.file);
}

async function contentOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    throw new KubeconfigError(`The file ${file}, needed to reach the cluster, cannot be read (${code}).`);
  });
}

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "../world/client.ts";
import { Pipe } from "../world/pipe.ts";
import { addressOf, administer } from "../world/postgres.ts";
import { AUTHORITY_FILE } from "./authority.ts";
import { CHART, type ChartRepository, serveCharts } from "./chart-repository.ts";
import { Front } from "./front.ts";
import { apply, HOST, helm, importImage, kubectl, NODE_DIR } from "./node.ts";

export const OWN_CHART = new URL("../../deploy/charts/binnacle", import.meta.url).pathname;
/** Nobody answers under this name: what has it was imported. */
export const REGISTRY = "images.example";
export const NAMESPACE = "binnacle";
/** The values that the chart was installed with. */
export const VALUES = join(NODE_DIR, "values.json");
const DATABASE = "install";
const ADDON = "starter";
const EMAIL = "admin@example.com";

export interface Installation {
  readonly url: string;
  readonly token: string;
  readonly charts: ChartRepository;
  readonly importedAfterMs: number;
  /** From `helm install` until all pods were ready. */
  readonly readyAfterMs: number;
  close(): Promise<void>;
}

/** Installs the control plane by its chart on the node, whose images are not there yet. */
export async function install(postgresUrl: string): Promise<Installation> {
  const began = performance.now();
  const version = importImage("server", REGISTRY);
  importImage("registry", REGISTRY);
  const importedAfterMs = performance.now() - began;
  const closers: Closers = [];
  const close = async () => {
    for (const one of closers.reverse()) await one();
  };
  try {
    return { ...(await installed(postgresUrl, version, closers)), importedAfterMs, close };
  } catch (error) {
    // The reason is mostly in the logs of the pods, and they go with the node.
    const pods = ["--selector", "app.kubernetes.io/name=binnacle", "--prefix", "--tail", "3"];
    const logs = await kubectl("--namespace", NAMESPACE, "logs", ...pods).catch(String);
    await close();
    throw new Error(`The control plane was not installed.\n${logs}`, { cause: error });
  }
}

type Closers = (() => void | Promise<void>)[];

async function installed(
  postgresUrl: string,
  version: string,
  closers: Closers,
): Promise<Omit<Installation, "importedAfterMs" | "close">> {
  const services = { api: "", hub: "" };
  const front = await Front.open(HOST, (path) => (path.startsWith("/hub/v1") ? services.hub : services.api));
  closers.push(() => front.close());
  trustSigned(new URL(front.url).host);
  const charts = await serveCharts();
  closers.push(() => charts.close());
  await prepareNamespace(await reachableDatabase(postgresUrl, closers), charts);
  writeFileSync(VALUES, JSON.stringify(valuesOf(front.url, version)));
  const installing = performance.now();
  const flags = ["--namespace", NAMESPACE, "--values", VALUES, "--wait", "--timeout", "3m"];
  await helm("install", "binnacle", OWN_CHART, ...flags);
  const readyAfterMs = performance.now() - installing;
  for (const name of ["api", "hub"] as const)
    services[name] = await field(`service/binnacle-${name}`, ".spec.clusterIP");
  const password = Buffer.from(await field("secret/binnacle-admin", ".data.password"), "base64").toString();
  const form = { username: EMAIL, password };
  const { body } = await new Client(`${front.url}/api/v1`).send("POST", "/login", { form });
  return { url: front.url, token: body.access_token, charts, readyAfterMs };
}

const field = (object: string, path: string) =>
  kubectl("--namespace", NAMESPACE, "get", object, "--output", `jsonpath={${path}}`);

const valuesOf = (publicUrl: string, tag: string) => ({
  publicUrl,
  admin: { email: EMAIL },
  database: { existingSecret: "database" },
  image: { registry: REGISTRY, tag, pullPolicy: "Never" },
  backup: { enabled: true, existingClaim: "backups", keep: 1 },
  // One more addon in the catalog: the charts of the shipped ones are on the internet.
  extraVolumes: [{ name: "addons", configMap: { name: "addons" } }],
  extraVolumeMounts: [
    { name: "addons", mountPath: `/app/catalog/addons/${ADDON}.yaml`, subPath: `${ADDON}.yaml`, readOnly: true },
  ],
});

/** A schema that allows these values and no others. */
const fixed = (values: Readonly<Record<string, unknown>>) => ({
  type: "object",
  additionalProperties: false,
  properties: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { const: value }])),
});
const IMAGE = { repository: "page", tag: "1" };
const SERVICE = { port: 8080 };

const addonDefinition = (repo: string) => ({
  name: ADDON,
  display_name: "Starter",
  category: "storage",
  icon: "starter",
  description: "A page, by the chart that helm create writes.",
  stateful: false,
  chart: { repo, name: CHART.name, version: CHART.version, versions: [CHART.version] },
  default_values: { image: IMAGE, service: SERVICE },
  values_schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      replicaCount: { type: "integer", minimum: 1, maximum: 3 },
      image: fixed(IMAGE),
      service: fixed(SERVICE),
    },
  },
  secret_values: [],
  export_schema: {
    host: { description: "Where clients connect.", secret: false, from: { service: `\${fullname}` } },
  },
});

/** What an administrator prepares: the namespace, the database's address, a volume for backups, an addon of the company's own. */
async function prepareNamespace(databaseUrl: string, charts: ChartRepository): Promise<void> {
  const enforced = { "pod-security.kubernetes.io/enforce": "restricted" };
  const named = (name: string) => ({ name, namespace: NAMESPACE });
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const addon = { [`${ADDON}.yaml`]: JSON.stringify(addonDefinition(charts.url)) };
  await apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE, labels: enforced } },
    { apiVersion: "v1", kind: "Secret", metadata: named("database"), stringData: { uri: databaseUrl } },
    { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: named("backups"), spec: claim },
    { apiVersion: "v1", kind: "ConfigMap", metadata: named("addons"), data: addon },
  );
}

/** The node speaks plain HTTP to a registry. */
export const trustPlain = (host: string): void => trust(`http://${host}`);

/** The node trusts the company's authority for a registry. */
const trustSigned = (host: string): void => trust(`https://${host}`, `  ca = "${AUTHORITY_FILE}"\n`);

function trust(url: string, more = ""): void {
  const folder = join(NODE_DIR, "registries", new URL(url).host);
  mkdirSync(folder, { recursive: true });
  const host = `[host."${url}"]\n  capabilities = ["pull", "resolve"]\n${more}`;
  writeFileSync(join(folder, "hosts.toml"), `server = "${url}"\n${host}`);
}

/** A database of the tests' PostgreSQL, under an address that pods reach. */
async function reachableDatabase(server: string, closers: Closers): Promise<string> {
  await administer(server, (admin) => admin.query(`create database ${DATABASE}`));
  closers.push(() =>
    administer(server, (admin) => admin.query(`drop database ${DATABASE} with (force)`)).then(() => undefined),
  );
  const { pipe, url } = await Pipe.toServer(addressOf(server, DATABASE), 5432, HOST);
  closers.push(() => pipe.close());
  return url;
}

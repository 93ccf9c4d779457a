import { randomUUID } from "node:crypto";
import {
  DEFAULT_POLICY,
  type DesiredBodies,
  type DesiredKind,
  type DesiredPolicy,
  type HubFrames,
} from "@binnacle/contract";
import { KINDS } from "../kinds.ts";
import { hashOf } from "./custom-resource.ts";
import { type Address, addressOf, type StoredKind } from "./stored-kind.ts";

export const PROJECT_ID = "01932c07-31f1-7a4e-8d8b-000000000001";
export const APP_ID = "01932c07-31f1-7a4e-8d8b-000000000002";
export const ADDON_ID = "01932c07-31f1-7a4e-8d8b-000000000003";
export const ORG_ID = "01932c07-31f1-7a4e-8d8b-000000000004";

export type Apply = HubFrames["apply"];
type Given = Partial<Pick<Apply, "key" | "resource_id" | "generation" | "hash">>;

export function kindOf(name: DesiredKind): StoredKind {
  const kind = KINDS.find((one) => one.kind === name);
  if (!kind) throw new Error(`There is no kind ${name}.`);
  return kind;
}

/** The address that a frame with a valid key has. */
export function addressIn({ kind, key }: Pick<Apply, "kind" | "key">): Address {
  const address = addressOf(kindOf(kind), key);
  if (!address) throw new Error(`${key} has no address.`);
  return address;
}

function applyOf<K extends DesiredKind>(
  kind: K,
  key: string,
  resource_id: string,
  body: DesiredBodies[K],
  given: Given,
) {
  const named = { key, resource_id, generation: 1, hash: hashOf(body), ...given };
  return { type: "apply", id: randomUUID(), session: randomUUID(), kind, body, ...named } as Apply;
}

interface GivenProject extends Given {
  readonly suspended?: boolean;
}

export const applyProject = (
  namespace = "shop",
  { suspended, ...given }: GivenProject = {},
  policy?: Partial<DesiredPolicy>,
): Apply => {
  const spec = { org_id: ORG_ID, name: namespace, namespace, ...(suspended ? { suspended } : {}) };
  const body = { spec: policy ? { ...spec, policy: { ...DEFAULT_POLICY, ...policy } } : spec, secret: {} };
  return applyOf("project", `project/${namespace}`, PROJECT_ID, body, given);
};

export interface GivenApp extends Given {
  readonly namespace?: string;
  readonly name?: string;
  readonly project_id?: string;
  readonly image?: string;
  readonly password?: string;
  /** Of an ingress. */
  readonly host?: string;
}

export function applyApp(app: GivenApp = {}): Apply {
  const {
    namespace = "shop",
    name = "web",
    project_id = PROJECT_ID,
    image = "nginx:1.29",
    password = "s3cret",
    host,
    ...given
  } = app;
  const served = host === undefined ? {} : { ports: [{ name: "http", port: 80 }], ingress: { host } };
  const workload_spec = { image, replicas: 1, ...served };
  const components = [{ name: "front", type: "workload" as const, workload_spec }];
  const body = {
    spec: { project_id, namespace, name, paused: false, take_over: false, components },
    secret: { secrets: { front: { PASSWORD: password } }, values: {} },
  };
  return applyOf("app", `app/${namespace}/${name}`, APP_ID, body, given);
}

export function applyAddon(namespace = "shop", name = "db", given: Given = {}): Apply {
  const chart = { repo: "https://charts.example.com", name: "postgres" };
  const body = {
    spec: { project_id: PROJECT_ID, namespace, name, chart, export_schema: {} },
    secret: { values: { auth: { password: "s3cret" } } },
  };
  return applyOf("addon_instance", `addon_instance/${namespace}/${name}`, ADDON_ID, body, given);
}

export interface GivenRegistry {
  readonly name: string;
  readonly server?: string;
  readonly password?: string;
}

export function applyRegistries(registries: readonly GivenRegistry[], namespace = "shop", given: Given = {}): Apply {
  const full = registries.map(({ name, server = "registry.example.com", password = "p4ss" }) => ({
    name,
    server,
    username: "ada",
    password,
  }));
  const body = {
    spec: { project_id: PROJECT_ID, namespace, names: full.map(({ name }) => name) },
    secret: { registries: full },
  };
  return applyOf("registry_secrets", `registry_secrets/${namespace}`, PROJECT_ID, body, given);
}

export const removeOf = ({ kind, key, resource_id, generation }: Apply, given: Given = {}): HubFrames["remove"] => ({
  type: "remove",
  id: randomUUID(),
  session: randomUUID(),
  kind,
  key,
  resource_id,
  generation: generation + 1,
  ...given,
});

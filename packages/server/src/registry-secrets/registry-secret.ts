import {
  MAX_REGISTRY_SECRETS,
  type RegistrySecretsBody,
  type RegistrySecret as WireRegistrySecret,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { RegistrySecretTable } from "../database/fleet-tables.ts";
import type { DispatchedResource } from "../dispatch/dispatch.ts";
import { conflict } from "../fault.ts";
import type { Project } from "../projects/project.ts";

export type RegistrySecret = Omit<Selectable<RegistrySecretTable>, "sealed_password">;

export interface Effective<S> {
  readonly secret: S;
  readonly inherited_from: "cluster" | "project";
}

/** The names of Docker Hub that its own tools have used. */
const DOCKER_HUB = /^((registry-1|index)\.)?docker\.io(\/v[12])?$/;

/**
 * Returns the canonical spelling of a registry: the scheme, the case of the host and a trailing slash do not matter.
 */
export function registryOf(serverUrl: string): string {
  const [host = "", ...path] = serverUrl.replace(/^https?:\/\//, "").split("/");
  const registry = [host.toLowerCase(), ...path].join("/").replace(/\/+$/, "");
  return DOCKER_HUB.test(registry) ? "docker.io" : registry;
}

/** Returns the pull secrets of a project: all of its own, and those of the cluster for other registries. */
export function effectiveSecrets<S extends Pick<RegistrySecret, "server_url">>(
  ofProject: readonly S[],
  ofCluster: readonly S[],
): Effective<S>[] {
  const own = new Set(ofProject.map(({ server_url }) => registryOf(server_url)));
  const inherited = ofCluster.filter(({ server_url }) => !own.has(registryOf(server_url)));
  return [
    ...ofProject.map((secret) => ({ secret, inherited_from: "project" as const })),
    ...inherited.map((secret) => ({ secret, inherited_from: "cluster" as const })),
  ];
}

/**
 * All pull secrets of a namespace are dispatched as one resource with the id of their project, because a workload names
 * all of them.
 */
export const dispatchedRegistrySecrets = ({
  id,
  namespace,
}: Pick<Project, "id" | "namespace">): DispatchedResource => ({
  kind: "registry_secrets",
  resourceId: id,
  key: `registry_secrets/${namespace}`,
});

export const secretNameTaken = () => conflict("A registry secret with this name already exists here.");
export const tooMany = () =>
  conflict(`A cluster or project has at most ${MAX_REGISTRY_SECRETS} registry secrets of its own; remove one first.`);

export function wireRegistrySecret(secret: RegistrySecret): WireRegistrySecret {
  return {
    id: secret.id,
    name: secret.name,
    server_url: secret.server_url,
    username: secret.username,
    cluster_id: secret.cluster_id,
    project_id: secret.project_id,
    created_at: secret.created_at.toISOString(),
    updated_at: secret.updated_at.toISOString(),
  };
}

export type OpenRegistrySecret = Pick<RegistrySecret, "name" | "server_url" | "username"> & {
  readonly password: string;
};

/** The address by which kubelets and Docker's tools look up the credentials of Docker Hub. */
const DOCKER_HUB_SERVER = "https://index.docker.io/v1/";

const serverOf = (serverUrl: string): string => {
  const registry = registryOf(serverUrl);
  return registry === "docker.io" ? DOCKER_HUB_SERVER : registry;
};

/** The name includes the origin, because a cluster and a project may have secrets of the same name. */
const nameOf = (name: string, origin: "cluster" | "project") => `${name}-registry-${origin}`;

/** The body of the pull secrets of a namespace that is sent to its cluster. */
export function registrySecretsBody(
  project: Pick<Project, "id" | "namespace">,
  ofProject: readonly OpenRegistrySecret[],
  ofCluster: readonly OpenRegistrySecret[],
): RegistrySecretsBody {
  const registries = effectiveSecrets(ofProject, ofCluster).map(({ secret, inherited_from }) => ({
    name: nameOf(secret.name, inherited_from),
    server: serverOf(secret.server_url),
    username: secret.username,
    password: secret.password,
  }));
  return {
    spec: { project_id: project.id, namespace: project.namespace, names: registries.map(({ name }) => name) },
    secret: { registries },
  };
}

import type { RegistrySecretsBody } from "@binnacle/contract";
import type { Project } from "../projects/project.ts";
import { effectiveSecrets, type RegistrySecret, registryOf } from "./registry-secret.ts";

export type OpenRegistrySecret = Pick<RegistrySecret, "name" | "server_url" | "username"> & {
  readonly password: string;
};

/** The address under which the tools of Docker Hub, and with them kubelets, look for its credentials. */
const DOCKER_HUB_SERVER = "https://index.docker.io/v1/";

const serverOf = (serverUrl: string): string => {
  const registry = registryOf(serverUrl);
  return registry === "docker.io" ? DOCKER_HUB_SERVER : registry;
};

/** With its origin: a cluster and a project may have a secret of the same name, for different registries. */
const nameOf = (name: string, origin: "cluster" | "project") => `${name}-registry-${origin}`;

/** What a cluster is told of the pull secrets of a namespace. */
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

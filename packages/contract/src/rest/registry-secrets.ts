import Type, { type Static } from "typebox";
import { DnsLabel, Nullable, strict, Timestamp, Uuid, Whole } from "../fields.ts";
import { operation } from "../operation.ts";

/** Of one cluster, or of one project itself. */
export const MAX_REGISTRY_SECRETS = 100;

const fields = {
  name: DnsLabel("github"),
  server_url: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "^(https?://)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[!-~]*)?$",
    description: "The registry: a host, with a port, a path or a scheme where it needs one.",
    examples: ["ghcr.io"],
  }),
  username: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: "^[^\\x00-\\x1f\\x7f-\\x9f:]+$",
    examples: ["robot"],
  }),
};

export const RegistrySecret = Type.Object(
  {
    id: Uuid(),
    ...fields,
    cluster_id: Nullable(Uuid()),
    project_id: Nullable(Uuid()),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "RegistrySecret", description: "The password is written and never read back." },
);
export type RegistrySecret = Static<typeof RegistrySecret>;

export const EffectiveRegistrySecret = Type.Object(
  { ...RegistrySecret.properties, inherited_from: Type.Enum(["cluster", "project"]) },
  { title: "EffectiveRegistrySecret" },
);

const WrittenRegistrySecret = Type.Object(
  {
    ...fields,
    password: Type.String({ minLength: 1, maxLength: 65_536, examples: ["<REGISTRY_PASSWORD>"] }),
  },
  { ...strict, title: "WrittenRegistrySecret" },
);
export type WrittenRegistrySecret = Static<typeof WrittenRegistrySecret>;

const params = Type.Object({ id: Uuid() });
const secretParams = Type.Object({ id: Uuid(), secret_id: Uuid() });
const clusters = { path: "/clusters/{id}/registry-secrets", tag: "Clusters", credentials: "user" } as const;
const projects = { path: "/projects/{id}/registry-secrets", tag: "Projects", credentials: "user" } as const;

export const listClusterRegistrySecrets = operation({
  ...clusters,
  id: "listClusterRegistrySecrets",
  method: "GET",
  summary: "List the image pull secrets of a cluster",
  params,
  success: [200, Whole(RegistrySecret)],
  failures: [404],
});

export const attachClusterRegistrySecret = operation({
  ...clusters,
  id: "attachClusterRegistrySecret",
  method: "POST",
  summary: "Attach an image pull secret to every project of a cluster",
  description: `A cluster has at most ${MAX_REGISTRY_SECRETS} of its own.`,
  params,
  body: WrittenRegistrySecret,
  success: [201, RegistrySecret],
  failures: [403, 404, 409],
});

export const detachClusterRegistrySecret = operation({
  ...clusters,
  path: "/clusters/{id}/registry-secrets/{secret_id}",
  id: "detachClusterRegistrySecret",
  method: "DELETE",
  summary: "Remove an image pull secret of a cluster",
  params: secretParams,
  success: [204, null],
  failures: [403, 404, 409],
});

export const listProjectRegistrySecrets = operation({
  ...projects,
  id: "listProjectRegistrySecrets",
  method: "GET",
  summary: "List the image pull secrets of a project itself",
  params,
  success: [200, Whole(RegistrySecret)],
  failures: [404],
});

export const attachProjectRegistrySecret = operation({
  ...projects,
  id: "attachProjectRegistrySecret",
  method: "POST",
  summary: "Attach an image pull secret to a project",
  description: `For its \`server_url\` it counts instead of the cluster's. A project has at most ${MAX_REGISTRY_SECRETS} of its own.`,
  params,
  body: WrittenRegistrySecret,
  success: [201, RegistrySecret],
  failures: [403, 404, 409],
});

export const detachProjectRegistrySecret = operation({
  ...projects,
  path: "/projects/{id}/registry-secrets/{secret_id}",
  id: "detachProjectRegistrySecret",
  method: "DELETE",
  summary: "Remove an image pull secret of a project",
  params: secretParams,
  success: [204, null],
  failures: [403, 404, 409],
});

export const listEffectiveRegistrySecrets = operation({
  ...projects,
  path: "/projects/{id}/effective-registry-secrets",
  id: "listEffectiveRegistrySecrets",
  method: "GET",
  summary: "List the image pull secrets that apply in a project, and where each is inherited from",
  params,
  success: [200, Whole(EffectiveRegistrySecret)],
  failures: [404],
});

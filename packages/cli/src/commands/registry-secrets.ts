import type { EffectiveRegistrySecret, RegistrySecret } from "@binnacle/client";
import { arg, type Command, command, inCluster, inProject, listAll, listing, option, verb } from "../command.ts";
import { ageColumn, column, view } from "../output.ts";

const REGISTRY_SECRET = view<RegistrySecret | EffectiveRegistrySecret>(
  "name",
  column("NAME", "name"),
  column("SERVER", "server_url"),
  column("USERNAME", "username"),
  { title: "INHERITED FROM", isWide: true, of: (row) => ("inherited_from" in row ? row.inherited_from : null) },
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const SECRET_FIELDS = [
  arg("<name>", "body.name"),
  option("--server <address>", "body.server_url", "of the registry"),
  option("--username <name>", "body.username", "there"),
  { from: "--password", to: "body.password", kind: "secret", help: "the password", isRequired: true } as const,
];

export const REGISTRY_SECRET_COMMANDS: readonly Command[] = [
  command(
    "listEffectiveRegistrySecrets",
    "registry-secrets list",
    "List the registry secrets of --project, with those of its cluster, or of --cluster",
    {
      also: ["listClusterRegistrySecrets"],
      async run(call) {
        const isOfCluster = call.asked.cluster !== undefined && call.asked.project === undefined;
        const rows = isOfCluster
          ? await listAll(call, "listClusterRegistrySecrets", { id: await call.find.clusterId() })
          : await listAll(call, "listEffectiveRegistrySecrets", { id: await call.find.projectId() });
        call.list(REGISTRY_SECRET, rows);
      },
    },
  ),
  listing("listProjectRegistrySecrets", "registry-secrets project list", "List a project's own registry secrets", {
    fields: [inProject("id")],
    view: REGISTRY_SECRET,
  }),
  verb("attachProjectRegistrySecret", "registry-secrets project attach <name>", "Let a project pull from a registry", {
    fields: [inProject("id"), ...SECRET_FIELDS],
    view: REGISTRY_SECRET,
  }),
  verb(
    "detachProjectRegistrySecret",
    "registry-secrets project detach <secret>",
    "Remove a registry secret of a project",
    {
      fields: [inProject("id"), arg("<secret>", "secret_id", "project-registry-secret")],
      confirm: "Remove the registry secret {secret}?",
      done: "Removed {secret}.",
    },
  ),
  verb(
    "attachClusterRegistrySecret",
    "registry-secrets cluster attach <name>",
    "Let all projects of a cluster pull from a registry",
    { fields: [inCluster("id"), ...SECRET_FIELDS], view: REGISTRY_SECRET },
  ),
  verb(
    "detachClusterRegistrySecret",
    "registry-secrets cluster detach <secret>",
    "Remove a registry secret of a cluster",
    {
      fields: [inCluster("id"), arg("<secret>", "secret_id", "cluster-registry-secret")],
      confirm: "Remove the registry secret {secret}?",
      done: "Removed {secret}.",
    },
  ),
];

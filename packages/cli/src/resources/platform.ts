import { bundleMoves, MOVE } from "../bundles.ts";
import {
  arg,
  type Call,
  type Command,
  type Field,
  type Given,
  IN_CLUSTER,
  IN_ORG,
  IN_PROJECT,
  option,
  send,
  taken,
  verb,
} from "../command.ts";
import { events } from "../following.ts";
import { CliError, EXIT, type ExitCode } from "../host.ts";
import { ageColumn, column, type Row, stateColumn, view } from "../output.ts";
import { followJob, jobEnded, showPlan } from "../waiting.ts";
import { JOB } from "./clusters.ts";

const BUNDLE = view(
  "version",
  column("VERSION", "version"),
  column("HA TIERS", "ha_tiers"),
  column("PROFILES", "profiles"),
);
const REGISTRY_SECRET = view(
  "name",
  column("NAME", "name"),
  column("SERVER", "server_url"),
  column("USERNAME", "username"),
  column("INHERITED FROM", "inherited_from", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const CREDENTIAL = view(
  "name",
  column("NAME", "name"),
  column("PROVIDER", "provider"),
  column("REGION", "region"),
  column("ACCESS KEY", "access_key_id"),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const THE_CLUSTER = arg("<cluster>", "id", "cluster");
const SECRET_FIELDS = [
  arg("<name>", "body.name"),
  option("--server <address>", "body.server_url", "of the registry"),
  option("--username <name>", "body.username", "there"),
  { from: "--password", to: "body.password", kind: "secret", help: "the password", isRequired: true } as const,
];

const FINDING = view(
  "name",
  column("KIND", "kind"),
  column("NAME", "name"),
  stateColumn("RESULT", "result"),
  column("DETAIL", "detail"),
);

/** The identity and each permission and quota as a line; the exit code says whether all suffice. */
async function credentialChecked(call: Call, { input }: Given): Promise<ExitCode | undefined> {
  const check: Row = await send(call, "checkCredential", input);
  if (call.format.kind !== "table" && call.format.kind !== "wide") call.show(null, check);
  else {
    const permissions: Row[] = check.permissions.map(({ action, allowed }: Row) => ({
      kind: "permission",
      name: action,
      result: allowed === null ? "unknown" : allowed ? "ok" : "missing",
      detail: null,
    }));
    const quotas: Row[] = check.quotas.map(({ name, limit, used, ok }: Row) => ({
      kind: "quota",
      name,
      result: ok ? "ok" : "used up",
      detail: `${used} of ${limit} used`,
    }));
    if (check.identity) call.say(`The provider knows it as ${check.identity}.`);
    if (permissions.length + quotas.length > 0) call.list(FINDING, [...permissions, ...quotas]);
  }
  if (check.ok) return undefined;
  throw new CliError(check.error?.message ?? "The credential does not suffice to make a cluster.", EXIT.failed);
}

const KEY_OF_PROVIDER: readonly Field[] = [
  option("--region <region>", "body.region", "of the provider"),
  option("--access-key-id <id>", "body.access_key_id", "of the key"),
  { from: "--secret-access-key", to: "body.secret_access_key", kind: "secret", help: "the secret access key" },
];

export const PLATFORM_COMMANDS: readonly Command[] = [
  {
    usage: "events",
    about: "Follow what happens, also of one --project or --cluster",
    fields: [
      { from: "-f, --follow", kind: "flag", help: "what it does anyway" },
      {
        from: "--type <type>",
        help: "only events about such resources",
        choices: ["cluster", "project", "workload", "build", "addon", "app", "activity", "all"],
      },
      { from: "--limit <count>", kind: "integer", help: "end after so many" },
    ],
    uses: ["streamEvents"],
    run: events,
  },
  verb({
    usage: "jobs list <cluster>",
    about: "List what was provisioned for a cluster, newest first",
    operation: "listProvisioningJobs",
    fields: [THE_CLUSTER],
    isList: true,
    view: JOB,
  }),
  verb({
    usage: "jobs show <id>",
    about: "Show a provisioning job",
    operation: "getProvisioningJob",
    fields: [arg("<id>", "id")],
    view: JOB,
  }),
  {
    usage: "jobs logs <id>",
    about: "Print the output of a provisioning job",
    fields: [arg("<id>", "id"), { from: "-f, --follow", kind: "flag", help: "until it has ended" }],
    uses: ["getProvisioningLogs", "getProvisioningJob"],
    run: followJob,
  },
  {
    usage: "jobs plan <id>",
    about: "Show what a provisioning job adds, changes and removes",
    fields: [arg("<id>", "id")],
    uses: ["getProvisioningPlan"],
    async run(call, { input }) {
      showPlan(call, await send(call, "getProvisioningPlan", input));
      return undefined;
    },
  },
  verb({
    usage: "jobs cancel <id>",
    about: "Stop a provisioning job after the resource that it is working on",
    operation: "cancelProvisioningJob",
    fields: [arg("<id>", "id")],
    confirm: "Cancel the job {id}? What it has made so far stays; a retry continues from there.",
    done: ({ id, status }) =>
      status === "running"
        ? `It stops after the resource that it is working on. Wait for that with: binnacle jobs wait ${id}`
        : "It had not begun, and does not run.",
    view: JOB,
  }),
  {
    usage: "jobs wait <id>",
    about: "Wait for a provisioning job",
    fields: [arg("<id>", "id"), { from: "--timeout <duration>", help: "how long", preset: "1h" }],
    uses: ["getProvisioningJob"],
    run: jobEnded,
  },
  verb({
    usage: "jobs retry <id>",
    about: "Try a failed job again, from where it stopped",
    operation: "retryProvisioningJob",
    fields: [arg("<id>", "id")],
    view: JOB,
  }),
  verb({
    usage: "bundles list",
    about: "List the platform bundles, oldest first",
    operation: "listBundles",
    isList: true,
    view: BUNDLE,
  }),
  verb({
    usage: "bundles show <version>",
    about: "Show what a bundle consists of",
    operation: "getBundle",
    fields: [arg("<version>", "version")],
  }),
  {
    usage: "bundles diff <version> <other>",
    about: "Show what changes from one bundle to another; what cannot be undone is marked",
    fields: [arg("<version>", "version"), arg("<other>", "other")],
    uses: ["diffBundles"],
    async run(call, { input }) {
      const diff: Row = await send(call, "diffBundles", input);
      if (call.format.kind !== "table" && call.format.kind !== "wide") call.show(null, diff);
      else call.list(MOVE, bundleMoves(diff));
      return undefined;
    },
  },
  verb({
    usage: "credentials list",
    about: "List the credentials for providers",
    operation: "listCredentials",
    fields: [IN_ORG],
    isList: true,
    view: CREDENTIAL,
  }),
  verb({
    usage: "credentials show <credential>",
    about: "Show a credential, without its secret",
    operation: "getCredential",
    fields: [arg("<credential>", "id", "credential")],
    view: CREDENTIAL,
  }),
  verb({
    usage: "credentials create <name>",
    about: "Store a credential for a provider",
    operation: "createCredential",
    fields: [
      IN_ORG,
      arg("<name>", "body.name"),
      option("--provider <provider>", "body.provider", "such as aws"),
      ...KEY_OF_PROVIDER,
    ],
    takesFile: true,
    view: CREDENTIAL,
  }),
  verb({
    usage: "credentials update <credential>",
    about: "Rename a credential, or replace its key",
    operation: "updateCredential",
    fields: [
      arg("<credential>", "id", "credential"),
      option("--name <name>", "body.name", "its name"),
      ...KEY_OF_PROVIDER,
    ],
    takesFile: true,
    view: CREDENTIAL,
  }),
  {
    usage: "credentials check <credential>",
    about: "Ask the provider whether a credential suffices to make clusters",
    fields: [arg("<credential>", "id", "credential")],
    uses: ["checkCredential"],
    run: credentialChecked,
  },
  verb({
    usage: "credentials delete <credential>",
    about: "Delete a credential",
    operation: "deleteCredential",
    fields: [arg("<credential>", "id", "credential")],
    confirm: "Delete the credential {credential}?",
    done: "Deleted {credential}.",
  }),
  {
    usage: "registry-secrets list",
    about: "List the registry secrets of --project, with those of its cluster, or of --cluster",
    fields: [],
    uses: ["listEffectiveRegistrySecrets", "listClusterRegistrySecrets"],
    async run(call) {
      const isOfCluster = call.asked.cluster !== undefined && call.asked.project === undefined;
      const rows = isOfCluster
        ? await taken(call, "listClusterRegistrySecrets", { id: await call.find.clusterId() })
        : await taken(call, "listEffectiveRegistrySecrets", { id: await call.find.projectId() });
      call.list(REGISTRY_SECRET, rows);
      return undefined;
    },
  },
  verb({
    usage: "registry-secrets project list",
    about: "List a project's own registry secrets",
    operation: "listProjectRegistrySecrets",
    fields: [IN_PROJECT],
    isList: true,
    view: REGISTRY_SECRET,
  }),
  verb({
    usage: "registry-secrets project attach <name>",
    about: "Let a project pull from a registry",
    operation: "attachProjectRegistrySecret",
    fields: [IN_PROJECT, ...SECRET_FIELDS],
    view: REGISTRY_SECRET,
  }),
  verb({
    usage: "registry-secrets project detach <secret>",
    about: "Remove a registry secret of a project",
    operation: "detachProjectRegistrySecret",
    fields: [IN_PROJECT, arg("<secret>", "secret_id", "project-registry-secret")],
    confirm: "Remove the registry secret {secret}?",
    done: "Removed {secret}.",
  }),
  verb({
    usage: "registry-secrets cluster attach <name>",
    about: "Let all projects of a cluster pull from a registry",
    operation: "attachClusterRegistrySecret",
    fields: [IN_CLUSTER, ...SECRET_FIELDS],
    view: REGISTRY_SECRET,
  }),
  verb({
    usage: "registry-secrets cluster detach <secret>",
    about: "Remove a registry secret of a cluster",
    operation: "detachClusterRegistrySecret",
    fields: [IN_CLUSTER, arg("<secret>", "secret_id", "cluster-registry-secret")],
    confirm: "Remove the registry secret {secret}?",
    done: "Removed {secret}.",
  }),
];

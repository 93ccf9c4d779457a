import type { AttentionItem } from "@binnacle/client";
import { addonAddress, appAddress, clusterAddress, jobAddress, projectAddress } from "../components/addresses.ts";
import type { Search } from "../search.ts";
import type { StatusView } from "../status/status.ts";

export interface AttentionView {
  readonly status: StatusView;
  /** The kind and the name, such as "App web/shop". */
  readonly title: string;
  /** Those with the same cause, as far as they are named. */
  readonly others: readonly { readonly name: string; readonly to: string; readonly search: Search }[];
  /** In the cluster's or the server's own words where there are any. */
  readonly cause: string;
  /** What resolves it, and where. */
  readonly action: { readonly label: string; readonly to: string; readonly search: Search };
}

type Kind = AttentionItem["kind"];
type Reason = AttentionItem["reason"];

const NOUNS: Readonly<Record<Kind, string>> = {
  app: "App",
  cluster: "Cluster",
  project: "Project",
  addon_instance: "Addon",
  provisioning_job: "Provisioning of",
  cli_token: "CLI token",
};

interface Entry {
  readonly word: string;
  /** Said where the item brings no message. */
  readonly cause: string;
  readonly label: string;
  readonly search?: Search;
}

const entry = (word: string, cause: string, label: string, search?: Search): Entry => ({
  word,
  cause,
  label,
  ...(search ? { search } : {}),
});

const ENTRIES: Readonly<Record<Kind, Readonly<Partial<Record<Reason, Entry>>>>> = {
  app: {
    failed: entry("Failed", "It does not run.", "See its pods"),
    rollout_failed: entry("Change failed", "Its newest change did not come up.", "See its pods"),
    held_up: entry("Held up", "The pods of its newest change do not get ready.", "See its pods"),
    invalid: entry("Invalid", "The cluster refuses its configuration.", "Correct it", { tab: "configuration" }),
    degraded: entry("Degraded", "It runs only in part.", "See what is missing"),
    blocked_sync: entry("Blocked", "Fields of it belong to somebody else on the cluster.", "Resolve the conflict"),
    drifted: entry("Drifted", "It was changed on the cluster by hand.", "See the difference"),
  },
  cluster: {
    disconnected: entry(
      "Disconnected",
      "Its operator is not connected; its apps go on running unseen.",
      "See its connection",
    ),
    install_failed: entry("Install failed", "A stage of its installation failed.", "Read the journal", {
      tab: "install",
    }),
    error: entry("Error", "It could not be created or destroyed.", "See what failed"),
  },
  project: {
    degraded: entry("Degraded", "Its namespace is not as it should be.", "See why"),
    namespace_conflict: entry("Conflict", "A namespace of its name belongs to somebody else.", "Resolve the conflict"),
    cleanup_degraded: entry("Cleanup stuck", "Its cluster does not confirm that it is gone.", "See what to do"),
  },
  addon_instance: {
    failed: entry("Failed", "It could not be installed or upgraded.", "See why"),
    degraded: entry("Degraded", "It runs only in part.", "See what is missing"),
  },
  provisioning_job: {
    provisioning_failed: entry("Provisioning failed", "The job stopped.", "Read its output and try again"),
  },
  cli_token: {
    expires_soon: entry("Expires soon", "Whatever uses it stops working then.", "Create a new one", { tab: "tokens" }),
  },
};

/** The server says which step resolves the trouble of an app or an addon. */
const ACTIONS: Readonly<
  Record<NonNullable<AttentionItem["action"]>, { readonly label: string; readonly search?: Search }>
> = {
  roll_back: { label: "Roll back", search: { tab: "deployments" } },
  edit: { label: "Edit", search: { tab: "configuration" } },
  retry: { label: "Retry", search: { tab: "deployments" } },
  see_pods: { label: "See its pods" },
};

/** Where the steps of an addon are taken, if not where those of an app are. */
const ADDON_TABS: Readonly<Record<string, Search>> = { edit: { tab: "values" }, roll_back: { tab: "revisions" } };

const word = (reason: string): string => reason.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());

/** An entry of the attention list: what is wrong, why, and the link to where it is resolved. */
export function attentionView(item: AttentionItem, org: string): AttentionView {
  const known = ENTRIES[item.kind][item.reason] ?? entry(word(item.reason), "It needs a look.", "Open it");
  const name = nameOf(item.kind, item);
  const { label, search } = item.action === null ? known : ACTIONS[item.action];
  return {
    status: { tone: item.severity === "failed" ? "bad" : "warning", word: known.word },
    title: `${NOUNS[item.kind]} ${name}${item.others === 0 ? "" : ` and ${item.others.toLocaleString()} more`}`,
    others: item.others_named.map((other) => ({
      name: nameOf(item.kind, other),
      to: addressOf({ ...item, ...other }, org),
      search: searchOf({ ...item, ...other }),
    })),
    cause: item.message ?? known.cause,
    action: { label, to: addressOf(item, org), search: { ...search, ...tabOf(item), ...searchOf(item) } },
  };
}

const tabOf = ({ kind, action }: AttentionItem): Search | undefined =>
  kind === "addon_instance" ? ADDON_TABS[action ?? ""] : undefined;

const nameOf = (kind: Kind, { namespace, name }: Pick<AttentionItem, "namespace" | "name">): string =>
  kind === "app" && namespace !== null ? `${namespace}/${name}` : name;

function addressOf({ kind, id, name, namespace, cluster_id }: AttentionItem, org: string): string {
  switch (kind) {
    case "app":
      return appAddress(org, { namespace: namespace ?? "", name });
    case "cluster":
      return clusterAddress(org, id);
    case "project":
      return projectAddress(org, id);
    case "addon_instance":
      return addonAddress(org, id);
    case "provisioning_job":
      return jobAddress(org, cluster_id ?? "", id);
    case "cli_token":
      return "/account";
  }
}

/** Two clusters may have the same namespace; the project says which app is meant. */
const searchOf = ({ kind, project_id }: AttentionItem): Search =>
  kind === "app" && project_id !== null ? { project: project_id } : {};

/** Those that do not end in `ed` by themselves. */
const PAST: Readonly<Record<string, string>> = {
  cancel: "cancelled",
  deploy: "deployed",
  destroy: "destroyed",
  mint: "made",
  plan: "planned",
  redeploy: "redeployed",
  retry: "retried",
  set: "set",
  update: "changed",
  verify: "verified",
};
const WHOLE: Readonly<Record<string, string>> = {
  attach_addon: "attached an addon to",
  detach_addon: "detached an addon from",
  exec: "opened a terminal in",
  exec_ended: "closed a terminal in",
  expires_soon: "announced the end of",
  node_bootstrap: "let a node join",
  rollback: "rolled back",
  run: "ran a command in",
};

/** An action of the audit log in words, such as "rotated the token of" for `cluster.rotate_token`. */
export function activityText(action: string): string {
  const name = action.slice(action.lastIndexOf(".") + 1);
  const [verb = "", ...object] = name.split("_");
  const past = PAST[verb] ?? (verb.endsWith("e") ? `${verb}d` : `${verb}ed`);
  return WHOLE[name] ?? (object.length === 0 ? past : `${past} the ${object.join(" ")} of`);
}

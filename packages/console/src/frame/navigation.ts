import type { OperationName } from "@binnacle/client";

export interface NavEntry {
  readonly label: string;
  /** Below `/o/$org/`. */
  readonly to: string;
  readonly icon: string;
  /** Only those who may call it see the entry. */
  readonly needs: OperationName;
  /** Pressed after `g`. */
  readonly key: string;
}

/** The entries of the navigation, in groups. */
export const NAVIGATION: readonly (readonly NavEntry[])[] = [
  [
    { label: "Overview", to: "overview", icon: "overview", needs: "getOrgOverview", key: "o" },
    { label: "Apps", to: "apps", icon: "apps", needs: "getOrgOverview", key: "a" },
    { label: "Projects", to: "projects", icon: "projects", needs: "getOrgOverview", key: "p" },
    { label: "Clusters", to: "clusters", icon: "clusters", needs: "listClusters", key: "c" },
    { label: "Templates", to: "templates", icon: "templates", needs: "listStackTemplates", key: "t" },
    { label: "Addons", to: "addons", icon: "addons", needs: "listAddonDefinitions", key: "d" },
    { label: "Bundles", to: "bundles", icon: "bundles", needs: "listBundles", key: "b" },
  ],
  [
    { label: "Members", to: "members", icon: "members", needs: "listMembers", key: "m" },
    { label: "Credentials", to: "credentials", icon: "credentials", needs: "listCredentials", key: "k" },
    { label: "Audit log", to: "audit", icon: "audit", needs: "listAuditLog", key: "l" },
    { label: "Settings", to: "settings", icon: "settings", needs: "getOrgSettings", key: "s" },
  ],
];

export const ENTRIES: readonly NavEntry[] = NAVIGATION.flat();

export interface Crumb {
  /** Empty until the object has been read that it is named after. */
  readonly label: string;
  readonly to: string | null;
  /** What the address has by its id, which says nothing to people. */
  readonly object?: { readonly read: "getProject" | "getCluster" | "getAddonInstance"; readonly id: string };
}

const BY_ID: Readonly<Record<string, NonNullable<Crumb["object"]>["read"]>> = {
  projects: "getProject",
  clusters: "getCluster",
  addons: "getAddonInstance",
};
const ID = /^[0-9a-f-]{36}$/;

/** The breadcrumb of an address: the section, then the object in it, and what is inside of the object. */
export function crumbsOf(path: string): readonly Crumb[] {
  const [root, org, section, ...rest] = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (root !== "o" || !section)
    return [{ label: { admin: "Administration", account: "Account", device: "Device" }[root ?? ""] ?? "", to: null }];
  const entry = ENTRIES.find(({ to }) => to === section);
  const base = `/o/${encodeURIComponent(org ?? "")}/${section}`;
  const first: Crumb = { label: entry?.label ?? section, to: rest.length > 0 ? base : null };
  const [id = "", ...inside] = rest;
  const read = BY_ID[section];
  if (read && ID.test(id)) {
    const object: Crumb = { label: "", to: inside.length > 0 ? `${base}/${id}` : null, object: { read, id } };
    return inside.length > 0 ? [first, object, { label: "Provisioning job", to: null }] : [first, object];
  }
  const [last] = rest.slice(-1);
  return last === undefined ? [first] : [first, { label: last === "new" ? "New" : last, to: null }];
}

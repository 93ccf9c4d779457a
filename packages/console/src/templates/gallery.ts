import type { Access } from "../api/access.ts";
import { allows } from "../api/access.ts";

export type Scope = "project" | "cluster" | "organization" | "global";

/** A template as a card of the gallery, whether it is stored or one of the catalog. */
export interface GalleryItem {
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly scope: Scope;
  readonly description: string | null;
  readonly tags: readonly string[];
  /** The organization that stores it; null for one that is in the catalog alone. */
  readonly org_id: string | null;
}

interface Stored extends GalleryItem {
  readonly org_id: string;
}

/**
 * The templates that can be deployed in an organization: its own and the global ones, then those of the catalog. Where a stored
 * template has the address of one of the catalog, it is the one that would be deployed, and the other is left out.
 */
export function galleryOf(
  orgId: string,
  stored: readonly Stored[],
  catalog: readonly Omit<GalleryItem, "org_id">[],
): readonly GalleryItem[] {
  const usable = stored.filter(({ org_id, scope }) => org_id === orgId || scope === "global");
  const own = usable.filter(
    (each) => each.org_id === orgId || !usable.some((other) => other.org_id === orgId && isSame(each, other)),
  );
  const rest = catalog
    .filter((each) => !own.some((other) => isSame(each, other)))
    .toSorted((a, b) => Number(isFirstStep(b)) - Number(isFirstStep(a)));
  return [...own, ...rest.map((each) => ({ ...each, org_id: null }))];
}

/** Those that need no answers stand before the others. */
const isFirstStep = ({ tags }: Pick<GalleryItem, "tags">): boolean => tags.includes("quick-start");

const isSame = (a: Pick<GalleryItem, "namespace" | "name">, b: Pick<GalleryItem, "namespace" | "name">): boolean =>
  a.namespace === b.namespace && a.name === b.name;

export interface GalleryFilter {
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  /** A scope, or `catalog` for those that ship. */
  readonly scope?: string | undefined;
}

/** A text is looked for in names, descriptions and tags; all its words have to be there. */
export function filtered(
  items: readonly GalleryItem[],
  { text = "", tag, scope }: GalleryFilter,
): readonly GalleryItem[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    if (tag && !item.tags.includes(tag)) return false;
    if (scope === "catalog" ? item.org_id !== null : scope && (item.org_id === null || item.scope !== scope))
      return false;
    const content = [item.namespace, item.name, item.description ?? "", ...item.tags].join(" ").toLowerCase();
    return words.every((word) => content.includes(word));
  });
}

/** Tags in the order of how many templates have them, then by name. */
export function tagsOf(items: readonly GalleryItem[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const tag of items.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([tag]) => tag);
}

/** One or two letters that stand for the icon: the beginnings of the first two words of the name. */
export function lettersOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.slice(0, 2).map((word) => Array.from(word)[0] ?? "");
  return (letters.length === 1 ? Array.from(words[0] ?? "").slice(0, 2) : letters).join("").toUpperCase() || "?";
}

/** Who may change or delete a stored template. Its scope decides, and the cluster of its project, because roles are inherited. */
export function mayWrite(
  template: { readonly org_id: string; readonly scope: Scope; readonly project_id: string | null },
  access: Access,
  clusterOfProject: string | undefined,
): boolean {
  const place = { orgId: template.org_id, projectId: template.project_id ?? undefined, clusterId: clusterOfProject };
  if (template.scope === "global") return access.is_superuser;
  if (template.scope === "project" && template.project_id !== null)
    return allows({ needs: "project_role", role: "editor" }, access, place);
  return allows({ needs: "org_role", role: "admin", hidden: false }, access, place);
}

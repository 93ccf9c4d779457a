import type { ResourceNode } from "@binnacle/client";

export interface TreeRow {
  readonly node: ResourceNode;
  readonly depth: number;
  readonly hasChildren: boolean;
}

/** The nodes as rows, each under its parent, without those below a folded one. A node whose parent is missing is a root. */
export function treeRows(nodes: readonly ResourceNode[], folded: ReadonlySet<string>): readonly TreeRow[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const childrenOf = Map.groupBy(nodes, ({ id, parent_id }) =>
    parent_id !== null && ids.has(parent_id) && parent_id !== id ? parent_id : null,
  );
  const seen = new Set<string>();
  const rowsBelow = (parent: string | null, depth: number): TreeRow[] =>
    (childrenOf.get(parent) ?? []).flatMap((node) => {
      // An answer in which nodes lead round in a circle must not hang the page.
      if (seen.has(node.id)) return [];
      seen.add(node.id);
      const hasChildren = childrenOf.has(node.id);
      const row = { node, depth, hasChildren };
      return folded.has(node.id) ? [row] : [row, ...rowsBelow(node.id, depth + 1)];
    });
  return rowsBelow(null, 0);
}

/** The counts and troubles of a node in a few words. */
export function nodeText({ desired, ready, restarts, reason, message, status }: ResourceNode): string {
  return [
    desired === null ? "" : `${ready ?? 0}/${desired} ready`,
    restarts ? `${restarts} restart${restarts === 1 ? "" : "s"}` : "",
    status === "ready" ? "" : (message ?? reason ?? ""),
  ]
    .filter(Boolean)
    .join(", ");
}

/** Names an object in an address. Ids are new with each answer for some of them, and say nothing to people. */
export const objectKey = ({ kind, name }: Pick<ResourceNode, "kind" | "name">): string => `${kind}/${name}`;

/** The names of the pods that an object has started, or its own if it is one. */
export function podsBelow(nodes: readonly ResourceNode[], node: ResourceNode): readonly string[] {
  const ids = new Set([node.id]);
  // Each node comes after its parent.
  for (const { id, parent_id } of nodes) if (parent_id !== null && ids.has(parent_id)) ids.add(id);
  return nodes.filter(({ id, kind }) => kind === "Pod" && ids.has(id)).map(({ name }) => name);
}

import type { MatrixMember, RoleBinding } from "@binnacle/client";

export type BindingRole = RoleBinding["role"];

/** A cluster or project on which somebody has a role: a column of the matrix. */
export interface MatrixPlace {
  readonly kind: "cluster" | "project";
  readonly id: string;
  readonly name: string;
  /** Of a project, its cluster; of a cluster, itself. */
  readonly clusterId: string;
}

/** The places on which anybody has a role of their own: each cluster by name, and its projects behind it. */
export function placesOf(
  members: readonly MatrixMember[],
  clusterNames: ReadonlyMap<string, string>,
): readonly MatrixPlace[] {
  const places = new Map<string, MatrixPlace>();
  for (const member of members) {
    for (const { id, name } of member.clusters) places.set(id, { kind: "cluster", id, name, clusterId: id });
    for (const { id, name, cluster_id } of member.projects)
      places.set(id, { kind: "project", id, name, clusterId: cluster_id });
  }
  const nameOf = ({ clusterId }: MatrixPlace) =>
    clusterNames.get(clusterId) ?? places.get(clusterId)?.name ?? clusterId;
  const rank = ({ kind }: MatrixPlace) => (kind === "cluster" ? 0 : 1);
  return [...places.values()].toSorted(
    (a, b) =>
      nameOf(a).localeCompare(nameOf(b)) ||
      a.clusterId.localeCompare(b.clusterId) ||
      rank(a) - rank(b) ||
      a.name.localeCompare(b.name),
  );
}

export interface Cell {
  /** A question mark where the answer does not name all roles of the member. */
  readonly role: BindingRole | "?";
  /** Why they have it. */
  readonly why: string;
  /** Whether it comes from elsewhere than a role on this very place. */
  readonly isInherited: boolean;
}

const ORDER: readonly BindingRole[] = ["viewer", "editor", "admin"];
const strength = (role: BindingRole) => ORDER.indexOf(role);

/** The role that counts for a member in a place, and why: the strongest of all that lead there. Null for none. */
export function cellOf(member: MatrixMember, place: MatrixPlace): Cell | null {
  const cell = knownCellOf(member, place);
  if (cell || member.more_roles === 0) return cell;
  return { role: "?", why: `${member.more_roles} more roles of the member are not shown`, isInherited: false };
}

function knownCellOf(member: MatrixMember, place: MatrixPlace): Cell | null {
  if (member.role === "admin") return { role: "admin", why: "Administrator of the organization", isInherited: true };
  const ofCluster = member.clusters.find(({ id }) => id === place.clusterId);
  if (place.kind === "cluster")
    return ofCluster ? { role: ofCluster.role, why: "Role on the cluster", isInherited: false } : null;
  const own = member.projects.find(({ id }) => id === place.id);
  if (ofCluster && (!own || strength(ofCluster.role) > strength(own.role))) {
    const besides = own ? `; the role ${own.role} on the project is weaker` : "";
    return { role: ofCluster.role, why: `Role on the cluster ${ofCluster.name}${besides}`, isInherited: true };
  }
  return own ? { role: own.role, why: "Role on the project", isInherited: false } : null;
}

/** Members whose name or address holds the text. */
export function membersWith(members: readonly MatrixMember[], text: string): readonly MatrixMember[] {
  const wanted = text.trim().toLowerCase();
  return members.filter(({ name, email }) => `${name} ${email}`.toLowerCase().includes(wanted));
}

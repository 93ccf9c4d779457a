/** The addresses of objects, so that every link to an object is made in one way. */

const at = (org: string, ...parts: readonly string[]): string =>
  `/o/${[org, ...parts].map(encodeURIComponent).join("/")}`;

interface AppName {
  readonly namespace: string;
  readonly name: string;
  readonly project_id: string;
}

export const appAddress = (org: string, { namespace, name }: Pick<AppName, "namespace" | "name">): string =>
  at(org, "apps", namespace, name);
/** Two clusters may have the same namespace; the project says which one is meant. */
export const appSearch = ({ project_id }: Pick<AppName, "project_id">) => ({ project: project_id });
export const projectAddress = (org: string, id: string): string => at(org, "projects", id);
export const clusterAddress = (org: string, id: string): string => at(org, "clusters", id);
export const jobAddress = (org: string, clusterId: string, id: string): string =>
  at(org, "clusters", clusterId, "jobs", id);
export const templateAddress = (org: string, namespace: string, name: string): string =>
  at(org, "templates", namespace, name);
export const addonAddress = (org: string, id: string): string => at(org, "addons", id);

/** What Binnacle writes onto the objects that it makes in a cluster. */

export const API_GROUP = "binnacle.dev";
export const API_VERSION = "v1alpha1";
export const FIELD_MANAGER = "binnacle";
export const FINALIZER = `${API_GROUP}/cleanup`;

export const LABELS = {
  managedBy: "app.kubernetes.io/managed-by",
  cluster: `${API_GROUP}/cluster`,
  project: `${API_GROUP}/project`,
  app: `${API_GROUP}/app`,
  component: `${API_GROUP}/component`,
  addon: `${API_GROUP}/addon`,
  /** Of a one-off run, on its Job and its pods. */
  run: `${API_GROUP}/run`,
} as const;
export const MANAGED_BY = "binnacle";

/** On custom resources: which desired state they hold. */
export const ANNOTATIONS = {
  resourceId: `${API_GROUP}/resource-id`,
  generation: `${API_GROUP}/generation`,
  hash: `${API_GROUP}/hash`,
} as const;

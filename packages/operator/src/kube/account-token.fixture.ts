import type { KubeClient } from "./kube-client.ts";
import type { ServiceAccountName } from "./role-binding.ts";

/** A token of a service account, for an hour. */
export async function accountToken(admin: KubeClient, { namespace, name }: ServiceAccountName): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3_600 } };
  return (await admin.raw<{ status: { token: string } }>("POST", path, { body })).status.token;
}

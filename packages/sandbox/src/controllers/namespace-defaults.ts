import { type Controller, NOTHING, type Place, type Write } from "./control.ts";
import { isLeaving } from "./pod.ts";

const ACCOUNT = "default";
const AUTHORITY = "kube-root-ca.crt";

/** What every namespace has: an account for pods, and the authority by which they know the API server. */
export const namespaceDefaults = (rootCertificate: string): Controller => ({
  name: "namespace-defaults",
  concerns({ resource, type, object }): readonly Place[] {
    const { name, namespace = "" } = object.metadata;
    if (resource === "namespaces") return type === "ADDED" ? [{ resource, name }] : [];
    const isOurs =
      (resource === "serviceaccounts" && name === ACCOUNT) || (resource === "configmaps" && name === AUTHORITY);
    return isOurs && type !== "ADDED" ? [{ resource: "namespaces", name: namespace }] : [];
  },
  step({ name: namespace }, view) {
    const around = view.get("namespaces", namespace);
    if (!around || isLeaving(around)) return NOTHING;
    const writes: Write[] = [];
    if (!view.get("serviceaccounts", ACCOUNT, namespace)) {
      const object = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: ACCOUNT, namespace } };
      writes.push({ verb: "create", resource: "serviceaccounts", object });
    }
    if (!view.get("configmaps", AUTHORITY, namespace)) {
      const description = "The certificate of the simulated API server, as a real cluster would give it to pods.";
      const annotations = { "kubernetes.io/description": description };
      const metadata = { name: AUTHORITY, namespace, annotations };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": rootCertificate } };
      writes.push({ verb: "create", resource: "configmaps", object });
    }
    return { writes, wakeAtMs: null };
  },
});

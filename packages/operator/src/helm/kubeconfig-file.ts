import type { Identity, KubeAccess } from "../kube/kube-access.ts";

const encoded = (text: string) => Buffer.from(text).toString("base64");

/** The way to the cluster for a program that reads kubeconfigs, as the same user. Every JSON document is a YAML document. */
export function kubeconfigText(
  { server, ca, isInsecure, serverName }: Omit<KubeAccess, "identity">,
  { token, certificate, key }: Identity,
): string {
  const cluster = {
    server,
    ...(ca && !isInsecure ? { "certificate-authority-data": encoded(ca) } : {}),
    ...(isInsecure ? { "insecure-skip-tls-verify": true } : {}),
    ...(serverName ? { "tls-server-name": serverName } : {}),
  };
  const user = {
    ...(token ? { token } : {}),
    ...(certificate && key ? { "client-certificate-data": encoded(certificate), "client-key-data": encoded(key) } : {}),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "cluster",
    contexts: [{ name: "cluster", context: { cluster: "cluster", user: "operator" } }],
    clusters: [{ name: "cluster", cluster }],
    users: [{ name: "operator", user }],
  });
}

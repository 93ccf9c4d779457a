import { stringify } from "yaml";

export interface KubeconfigOptions {
  readonly name: string;
  readonly server: string;
  readonly token: string | null;
}

/** With which kubectl, helm and the operator reach a sandbox; its context says that the cluster is simulated. */
export function kubeconfigOf({ name, server, token }: KubeconfigOptions): string {
  const title = `simulated-${name}`;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: title, cluster: { server } }],
    users: [{ name: title, user: token === null ? {} : { token } }],
    contexts: [{ name: title, context: { cluster: title, user: title, namespace: "default" } }],
    "current-context": title,
  });
}

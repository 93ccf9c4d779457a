import type { KubeObject } from "../../store/kube-object.ts";
import { isRecord } from "../fields/typed-value.ts";
import { at } from "../validation/metadata.ts";

/** The caller of a request. */
export interface Identity {
  readonly username: string;
  readonly groups: readonly string[];
  readonly isAdministrator: boolean;
}

const ADMINISTRATOR: Identity = {
  username: "sandbox-admin",
  groups: ["system:masters", "system:authenticated"],
  isAdministrator: true,
};

export const accountIdentity = (namespace: string, name: string): Identity => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  isAdministrator: false,
});

/** Accepts the sandbox's own token and tokens that it has issued. */
export class Tokens {
  readonly #own: string | null;
  readonly #given = new Map<string, Identity>();

  constructor(own: string | null) {
    this.#own = own;
  }

  /** Null when nobody is to be admitted by this header. */
  identify(authorization: string | undefined): Identity | null {
    const token = /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];
    const account = token === undefined ? undefined : this.#given.get(token);
    if (account) return account;
    return this.#own === null || token === this.#own ? ADMINISTRATOR : null;
  }

  /** Answers a `TokenRequest` for a service account. */
  give({ metadata: { name, namespace = "" } }: KubeObject, body: unknown, secret: string, nowMs: number): object {
    const spec = at(body, "spec");
    const asked = at(spec, "expirationSeconds");
    const expirationSeconds = typeof asked === "number" ? asked : 3_600;
    const token = `sandbox.${namespace}.${name}.${secret}`;
    this.#given.set(token, accountIdentity(namespace, name));
    return {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name, namespace },
      spec: { ...(isRecord(spec) ? spec : {}), expirationSeconds },
      status: { token, expirationTimestamp: new Date(nowMs + expirationSeconds * 1000).toISOString() },
    };
  }
}

import type { KubeClient } from "../kube/kube-client.ts";
import { SECRETS } from "../kube/resource-types.ts";
import type { LinkLog, TokenStore } from "./ports.ts";

const KEY = "token";

export interface TokenSecret {
  readonly kube: Pick<KubeClient, "get" | "patch">;
  readonly namespace: string;
  readonly name: string;
}

/** The token lives in the Secret from which the pod got it, so that the next pod gets the renewed one. */
export function createSecretTokenStore(
  first: string,
  { kube, namespace, name }: TokenSecret,
  log: LinkLog,
): TokenStore {
  let token = first;

  async function kept(): Promise<string | null> {
    const data = (await kube.get(SECRETS, name, namespace))?.["data"] as Record<string, string> | undefined;
    return (
      Buffer.from(data?.[KEY] ?? "", "base64")
        .toString("utf8")
        .trim() || null
    );
  }

  return {
    async current({ isRefused = false } = {}) {
      if (!isRefused) return token;
      try {
        token = (await kept()) ?? token;
      } catch (err) {
        log.warn({ err }, "the Secret of the token could not be read");
      }
      return token;
    },
    async store(renewed) {
      const data = { [KEY]: Buffer.from(renewed).toString("base64") };
      await kube.patch(SECRETS, name, namespace, { data }, { kind: "merge" });
      token = renewed;
    },
  };
}

/** For an operator that was given its token by hand and has no place to keep another. */
export function createMemoryTokenStore(first: string, log: LinkLog): TokenStore {
  let token = first;
  return {
    current: async () => token,
    async store(renewed) {
      token = renewed;
      log.warn({}, "the renewed token is stored in memory only; a restart uses the configured token");
    },
  };
}

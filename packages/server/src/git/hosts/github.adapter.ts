import type { GitHost } from "../git-host.ts";
import {
  checkedId,
  checkHost,
  createHostApi,
  type HostApiSettings,
  idOf,
  keyIdIn,
  keyOf,
  unexpected,
} from "./host-api.adapter.ts";
import { checkedName } from "./repository-name.ts";

/** Repositories of an organization of GitHub, or of GitHub Enterprise Server by `https://host/api/v3`. */
export function createGithubHost(settings: HostApiSettings): GitHost {
  const api = createHostApi(settings, {
    accept: "application/vnd.github+json",
    authorization: `Bearer ${settings.token}`,
    "x-github-api-version": "2022-11-28",
  });
  const owner = encodeURIComponent(settings.owner);
  const pathOf = (name: string) => `/repos/${owner}/${checkedName(name)}`;

  return {
    check: (signal) =>
      checkHost(
        settings,
        async () => {
          const { status } = await api.call("GET", `/orgs/${owner}`, undefined, signal);
          if (status !== 200) throw unexpected(`the organization ${settings.owner}`, status);
          return [];
        },
        signal,
      ),
    async ensureRepository(name, signal) {
      const url = `${settings.sshUrl.replace(/\/+$/, "")}/${settings.owner}/${checkedName(name)}.git`;
      if ((await api.call("GET", pathOf(name), undefined, signal)).status === 200) return { url };
      const { status } = await api.call(
        "POST",
        `/orgs/${owner}/repos`,
        { name, private: true, auto_init: false },
        signal,
      );
      // 422 says that the name is taken, which another server may have done meanwhile.
      if (status === 201 || (status === 422 && (await api.call("GET", pathOf(name), undefined, signal)).status === 200))
        return { url };
      throw unexpected(`the repositories of ${settings.owner}`, status);
    },
    async addDeployKey(name, { title, publicKey }, signal) {
      const key = keyOf(publicKey).line;
      const found = keyIdIn(await api.list(`${pathOf(name)}/keys`, signal), publicKey);
      if (found !== null) return { id: found };
      const { status, body } = await api.call("POST", `${pathOf(name)}/keys`, { title, key, read_only: false }, signal);
      if (status === 201) return { id: idOf(body) };
      // The organization may allow no deploy keys, or the key is one of another repository.
      const id = keyIdIn(await api.list(`${pathOf(name)}/keys`, signal), publicKey);
      if (id === null) throw unexpected(`the deploy keys of ${name}`, status);
      return { id };
    },
    allowPushes: async () => undefined,
    async removeDeployKey(name, id, signal) {
      const { status } = await api.call("DELETE", `${pathOf(name)}/keys/${checkedId(id)}`, undefined, signal);
      if (status !== 204 && status !== 404) throw unexpected(`the deploy keys of ${name}`, status);
    },
  };
}

import type { GitHost } from "../git-host.ts";
import {
  checkedId,
  checkHost,
  createHostApi,
  fieldOf,
  type HostApiSettings,
  idOf,
  keyIdIn,
  keyOf,
  unexpected,
} from "./host-api.adapter.ts";
import { checkedName } from "./repository-name.ts";

/** Repositories of an organization of Gitea or Forgejo, by their REST API of version 1. */
export function createGiteaHost(settings: HostApiSettings): GitHost {
  const api = createHostApi(settings, { authorization: `token ${settings.token}` });
  const owner = encodeURIComponent(settings.owner);
  const pathOf = (name: string) => `/api/v1/repos/${owner}/${checkedName(name)}`;

  return {
    check: (signal) =>
      checkHost(
        settings,
        async () => {
          const user = await api.call("GET", "/api/v1/user", undefined, signal);
          const login = fieldOf(user.body, "login");
          if (user.status !== 200 || typeof login !== "string") throw unexpected("the user", user.status);
          const path = `/api/v1/users/${encodeURIComponent(login)}/orgs/${owner}/permissions`;
          const { status, body } = await api.call("GET", path, undefined, signal);
          if (status !== 200) throw unexpected(`the organization ${settings.owner}`, status);
          // Deploy keys are for administrators of a repository.
          const may = fieldOf(body, "can_create_repository") === true;
          if (may) return [];
          const message = `The user ${login} may not make repositories in ${settings.owner}. Let a team of the organization do so.`;
          return [{ code: "denied", message }];
        },
        signal,
      ),
    async ensureRepository(name, signal) {
      const url = `${settings.sshUrl.replace(/\/+$/, "")}/${settings.owner}/${checkedName(name)}.git`;
      if ((await api.call("GET", pathOf(name), undefined, signal)).status === 200) return { url };
      const repository = { name, private: true, auto_init: false, default_branch: "main" };
      const { status } = await api.call("POST", `/api/v1/orgs/${owner}/repos`, repository, signal);
      // Another server may have made it meanwhile.
      if (status !== 201 && status !== 409) throw unexpected(`the repositories of ${settings.owner}`, status);
      return { url };
    },
    async addDeployKey(name, { title, publicKey }, signal) {
      const key = keyOf(publicKey).line;
      const found = keyIdIn(await api.list(`${pathOf(name)}/keys`, signal), publicKey);
      if (found !== null) return { id: found };
      const { status, body } = await api.call("POST", `${pathOf(name)}/keys`, { title, key, read_only: false }, signal);
      if (status === 201) return { id: idOf(body) };
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

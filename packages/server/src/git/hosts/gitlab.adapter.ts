import type { GitHost } from "../git-host.ts";
import { protectFor } from "./gitlab-protection.adapter.ts";
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

const MAINTAINER = 40;
const DEFAULT_BRANCH = "main";

/** Projects of a group of GitLab, by its REST API of version 4. */
export function createGitlabHost(settings: HostApiSettings): GitHost {
  const api = createHostApi(settings, { "private-token": settings.token });
  const groupPath = `/api/v4/groups/${encodeURIComponent(settings.owner)}`;
  const pathOf = (name: string) => `/api/v4/projects/${encodeURIComponent(`${settings.owner}/${checkedName(name)}`)}`;

  return {
    check: (signal) =>
      checkHost(
        settings,
        async () => {
          const user = await api.call("GET", "/api/v4/user", undefined, signal);
          if (user.status !== 200) throw unexpected("the user", user.status);
          const group = await api.call("GET", groupPath, undefined, signal);
          if (group.status !== 200) throw unexpected(`the group ${settings.owner}`, group.status);
          const { body } = await api.call("GET", `${groupPath}/members/all/${idOf(user.body)}`, undefined, signal);
          if (Number(fieldOf(body, "access_level")) >= MAINTAINER) return [];
          const message = `The token needs the role Maintainer in the group ${settings.owner}, to make projects and deploy keys.`;
          return [{ code: "denied", message }];
        },
        signal,
      ),
    async ensureRepository(name, signal) {
      const url = `${settings.sshUrl.replace(/\/+$/, "")}/${settings.owner}/${checkedName(name)}.git`;
      if ((await api.call("GET", pathOf(name), undefined, signal)).status === 200) return { url };
      const group = await api.call("GET", groupPath, undefined, signal);
      if (group.status !== 200) throw unexpected(`the group ${settings.owner}`, group.status);
      const project = {
        name,
        path: name,
        namespace_id: Number(idOf(group.body)),
        visibility: "private",
        default_branch: DEFAULT_BRANCH,
      };
      const { status } = await api.call("POST", "/api/v4/projects", project, signal);
      // 400 says that the path is taken, which another server may have done meanwhile.
      if (status === 201 || (status === 400 && (await api.call("GET", pathOf(name), undefined, signal)).status === 200))
        return { url };
      throw unexpected(`the projects of ${settings.owner}`, status);
    },
    async addDeployKey(name, { title, publicKey }, signal) {
      const key = keyOf(publicKey).line;
      const path = `${pathOf(name)}/deploy_keys`;
      const found = keyIdIn(await api.list(path, signal), publicKey);
      if (found !== null) return { id: found };
      const { status, body } = await api.call("POST", path, { title, key, can_push: true }, signal);
      const id = status === 201 ? idOf(body) : keyIdIn(await api.list(path, signal), publicKey);
      if (id === null) throw unexpected(`the deploy keys of ${name}`, status);
      return { id };
    },
    allowPushes: (name, allowed, signal) => protectFor({ api, path: pathOf(name), name }, allowed, signal),
    async removeDeployKey(name, id, signal) {
      const { status } = await api.call("DELETE", `${pathOf(name)}/deploy_keys/${checkedId(id)}`, undefined, signal);
      if (status !== 204 && status !== 404) throw unexpected(`the deploy keys of ${name}`, status);
    },
  };
}

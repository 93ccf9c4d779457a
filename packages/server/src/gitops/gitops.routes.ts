import { getClusterGitops, testGitops } from "@binnacle/contract";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import { testHost } from "./gitops-settings.runner.ts";
import { gitopsFacts } from "./status.store.ts";
import { wireGitops } from "./status.ts";

export function gitopsRoutes(ports: Ports<"db" | "vault" | "git" | "clock">): Route[] {
  return [
    route(testGitops, at(orgPlace, "admin"), async ({ org, body, caller, change }) => {
      const { problems, hostKeys } = await testHost(ports, org.id, caller.id, body.gitops);
      const tested = {
        ok: problems.length === 0,
        tested_at: ports.clock().toISOString(),
        problems: [...problems],
        host_keys: [...hostKeys],
      };
      return change(async ({ record }) => {
        const changes = { ok: tested.ok, problems: problems.map(({ code }) => code) };
        record({
          action: "org.test_gitops",
          resource: { type: "org", id: org.id, name: org.name },
          orgId: org.id,
          changes,
        });
        return tested;
      });
    }),

    route(getClusterGitops, at(clusterPlace, "member"), async ({ cluster }) =>
      wireGitops(cluster.id, await gitopsFacts(ports.db, cluster), ports.clock()),
    ),
  ];
}

import {
  createAgentCredentials,
  getInstallCommand,
  getInstallInstructions,
  rotateClusterToken,
} from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { onCluster, signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Chart } from "../operator-chart/operator-chart.adapter.ts";
import { type AgentTokens, prepareFloorConfirmation } from "./agent-token.adapter.ts";
import { knownCluster, nextTokenFloor, nextTokenVersion } from "./cluster.store.ts";
import { type Cluster, hasLiveSession } from "./cluster.ts";
import { chartRef, docsUrl, hubUrl, installCommand, OPERATOR_NAMESPACE, type PublicUrl } from "./connection.ts";
import { statusOf } from "./status.ts";

interface Ports {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly agentTokens: AgentTokens;
  readonly operatorChart: Chart;
}

const resourceOf = ({ id, name }: Cluster) => ({ type: "cluster", id, name });

/** Routes that issue and revoke the tokens of operators. */
export function connectionRoutes({ bus, clock, agentTokens, operatorChart }: Ports, publicUrl: PublicUrl): Route[] {
  return [
    route(
      getInstallInstructions,
      onCluster("member", ({ params }) => params.id),
      async ({ cluster }) => ({
        status: statusOf(cluster, clock()),
        cli_command: null,
        hub_url: hubUrl(publicUrl()),
        namespace: OPERATOR_NAMESPACE,
        chart_ref: chartRef(publicUrl(), operatorChart),
        docs_url: docsUrl(publicUrl()),
      }),
    ),

    route(getInstallCommand, signedIn, async () => ({
      detail: "This was removed. The install command is part of the answer to the cluster's creation.",
    })),

    route(
      createAgentCredentials,
      onCluster("admin", ({ params }) => params.id),
      async ({ cluster, change }) =>
        change(async ({ db: tx, record }) => {
          const token_version = await nextTokenVersion(tx, cluster.id, clock());
          const { token, expiresAt } = await agentTokens.mint(cluster.id, token_version);
          record({
            action: "cluster.mint_agent_credentials",
            resource: resourceOf(cluster),
            orgId: cluster.org_id,
            changes: { token_version },
          });
          return {
            cluster_id: cluster.id,
            agent_jwt: { token, token_version, expires_at: expiresAt.toISOString(), hub_url: hubUrl(publicUrl()) },
            repo_credential: null,
            operator: { namespace: OPERATOR_NAMESPACE, chart_ref: chartRef(publicUrl(), operatorChart) },
          };
        }),
    ),

    route(
      rotateClusterToken,
      onCluster("admin", ({ params }) => params.id),
      async ({ cluster, change }) => {
        const question = prepareFloorConfirmation(bus);
        try {
          const { hasSession, ...rotated } = await change(async ({ db: tx, record }) => {
            const now = clock();
            const token_version = await nextTokenFloor(tx, cluster.id, now);
            const { token } = await agentTokens.mint(cluster.id, token_version);
            record({
              action: "cluster.rotate_token",
              resource: resourceOf(cluster),
              orgId: cluster.org_id,
              changes: { token_version, token_floor: token_version },
            });
            const current = await knownCluster(tx, cluster.id);
            return { token, token_version, hasSession: hasLiveSession(current, now) };
          });
          const answer = question.ask(cluster.id, rotated.token_version);
          const install_command = installCommand(publicUrl(), operatorChart, cluster.id, rotated.token);
          return { ...rotated, install_command, enforcement: hasSession ? await answer : "in_force" };
        } finally {
          question.drop();
        }
      },
    ),
  ];
}

import {
  createAgentCredentials,
  getInstallCommand,
  getInstallInstructions,
  rotateClusterToken,
} from "@binnacle/contract";
import { mintKey } from "../gitops/key.runner.ts";
import { at, signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import type { Ports } from "../ports.ts";
import { prepareFloorConfirmation } from "./agent-token.adapter.ts";
import { knownCluster, nextTokenFloor, nextTokenVersion } from "./cluster.store.ts";
import { type Cluster, hasLiveSession } from "./cluster.ts";
import { clusterPlace } from "./cluster-place.store.ts";
import {
  chartRef,
  docsUrl,
  hubUrl,
  imageReference,
  installCommand,
  OPERATOR_NAMESPACE,
  upgradeCommand,
} from "./connection.ts";
import { statusOf } from "./status.ts";

const resourceOf = ({ id, name }: Cluster) => ({ type: "cluster", id, name });

/** Routes that issue and revoke the tokens of operators. */
export function connectionRoutes({
  bus,
  clock,
  agentTokens,
  operatorChart,
  publicUrl,
  ...gitPorts
}: Ports<"db" | "vault" | "git" | "bus" | "clock" | "agentTokens" | "operatorChart" | "publicUrl">): Route[] {
  return [
    route(getInstallInstructions, at(clusterPlace, "member"), async ({ cluster }) => ({
      status: statusOf(cluster, clock()),
      cli_command: null,
      hub_url: hubUrl(publicUrl()),
      namespace: OPERATOR_NAMESPACE,
      chart_ref: chartRef(publicUrl(), operatorChart),
      operator_image: imageReference(publicUrl(), operatorChart),
      docs_url: docsUrl(publicUrl()),
      upgrade_command: upgradeCommand(publicUrl(), operatorChart),
    })),

    route(getInstallCommand, signedIn, async () => ({
      detail: "This was removed. The install command is part of the answer to the cluster's creation.",
    })),

    route(createAgentCredentials, at(clusterPlace, "admin"), async ({ cluster, change }) => {
      const key = await mintKey({ ...gitPorts, clock }, cluster);
      let isGiven = false;
      try {
        return await change(async ({ db: tx, record, afterCommit }) => {
          const token_version = await nextTokenVersion(tx, cluster.id, clock());
          const { token, expiresAt } = await agentTokens.mint(cluster.id, token_version);
          await key?.save(tx);
          record({
            action: "cluster.mint_agent_credentials",
            resource: resourceOf(cluster),
            orgId: cluster.org_id,
            changes: { token_version, ...(key ? { repo_key: key.credential.fingerprint } : {}) },
          });
          afterCommit(() => {
            isGiven = true;
            if (key) bus.publish(JOBS_TOPIC, {});
          });
          return {
            cluster_id: cluster.id,
            agent_jwt: { token, token_version, expires_at: expiresAt.toISOString(), hub_url: hubUrl(publicUrl()) },
            repo_credential: key?.credential ?? null,
            operator: { namespace: OPERATOR_NAMESPACE, chart_ref: chartRef(publicUrl(), operatorChart) },
          };
        });
      } finally {
        // The answer to an earlier request with the same Idempotency-Key has another key.
        if (!isGiven) await key?.withdraw();
      }
    }),

    route(rotateClusterToken, at(clusterPlace, "admin"), async ({ cluster, change }) => {
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
    }),
  ];
}

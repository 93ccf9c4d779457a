import { reportNode } from "@binnacle/contract";
import { secondsUntil } from "../accounts/device-login.ts";
import { bySource, countAttempt } from "../accounts/login-tally.store.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { rateLimited } from "../fault.ts";
import { anyone } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { storedLines } from "../tofu/tofu-output.ts";
import type { Vault } from "../vault/vault.ts";
import { refusedSeconds, reportMask } from "./bootstrap.ts";
import { settleWaiting } from "./bootstrap-wait.runner.ts";
import { lockReporter, saveReport, tokenHashes } from "./node-report.store.ts";
import { invalidNodeToken, nodeTokenHash } from "./node-token.ts";
import { PROVISIONING_TOPIC } from "./provisioning.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly vault: Vault;
}

/** A new machine tells here how far it is. Its token can do nothing else, and what it can store is bounded. */
export function nodeReportRoutes({ db, bus, clock, vault }: Ports, bootstrapMinutes: number): Route[] {
  /** Counts only what is refused: machines behind one address may report as often as each may by itself. */
  async function refuse(address: string, tokenHash: string): Promise<never> {
    const now = clock();
    const untilMs = await inTransaction(db, (tx) => countAttempt(tx, [`node ${bySource(address)}`], tokenHash, now));
    throw untilMs === null ? invalidNodeToken() : rateLimited(secondsUntil(untilMs, now));
  }

  return [
    route(reportNode, anyone, async ({ body, sourceAddress }) => {
      const clusterId = body.cluster_id.toLowerCase();
      const tokenHash = nodeTokenHash(body.token);
      const saved = await inTransaction(db, async (tx) => {
        const now = clock();
        const found = await lockReporter(tx, { cluster_id: clusterId, node: body.node, tokenHash }, now);
        if (!found) return null;
        const { boot, job, sealedJoinToken } = found;
        const waitSeconds = refusedSeconds(boot, now);
        if (waitSeconds !== null) throw rateLimited(waitSeconds);
        const place = { table: "clusters", row: clusterId, column: "sealed_join_token" };
        const secrets = [body.token, ...(sealedJoinToken ? [vault.open(sealedJoinToken, place)] : [])];
        const mask = reportMask(secrets, await tokenHashes(tx, clusterId));
        // A line is masked before it is cut, and a line break within one does not make it two.
        const clean = (text: string) => storedLines(mask(text)).join(" ");
        const report = {
          stage: body.stage,
          status: body.status,
          message: body.message === undefined ? null : clean(body.message),
          firstLine: body.first_line,
          lines: body.lines.map(clean),
        };
        return { jobId: job.id, nextLine: await saveReport(tx, boot, job, report, now) };
      });
      if (!saved) return refuse(sourceAddress, tokenHash);
      bus.publish(PROVISIONING_TOPIC, { job_id: saved.jobId });
      if (body.status !== "running") await settleWaiting({ db, bus, clock }, bootstrapMinutes, clusterId);
      return { next_line: saved.nextLine };
    }),
  ];
}

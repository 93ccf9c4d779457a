import { reportNode } from "@binnacle/contract";
import { secondsUntil } from "../accounts/device-login.ts";
import { bySource, countAttempt } from "../accounts/login-tally.store.ts";
import { inTransaction } from "../database/transaction.ts";
import { rateLimited } from "../fault.ts";
import { anyone } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { storedLines } from "../tofu/tofu-output.ts";
import { refusedSeconds, reportMask } from "./bootstrap.ts";
import { settleWaiting } from "./bootstrap-wait.runner.ts";
import { joinTokensOf } from "./join-tokens.ts";
import { lockReporter, saveReport, tokenHashes } from "./node-report.store.ts";
import { invalidNodeToken, nodeTokenHash } from "./node-token.ts";
import { PROVISIONING_TOPIC } from "./provisioning.ts";

/** A new machine tells here how far it is. Its token can do nothing else, and what it can store is bounded. */
export function nodeReportRoutes({
  db,
  bus,
  clock,
  vault,
  bootstrapTimeoutMinutes,
}: Ports<"db" | "bus" | "clock" | "vault" | "bootstrapTimeoutMinutes">): Route[] {
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
        const { boot, job, sealed } = found;
        const waitSeconds = refusedSeconds(boot, now);
        if (waitSeconds !== null) throw rateLimited(waitSeconds);
        const { join, agent } = joinTokensOf(vault, sealed);
        const secrets = [body.token, join, ...(agent === null ? [] : [agent])];
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
      if (body.status !== "running") await settleWaiting({ db, bus, clock }, bootstrapTimeoutMinutes, clusterId);
      return { next_line: saved.nextLine };
    }),
  ];
}

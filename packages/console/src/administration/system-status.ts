import type { SystemStatus } from "@binnacle/client";
import type { StatusView } from "../status/status.ts";

const GOOD: StatusView = { tone: "good", word: "In order" };
const LONGEST_WAIT_SECONDS = 60;
const BUSY = 0.8;

/** A queue is in order while its jobs begin soon. Failed jobs stay until somebody has looked at them. */
export function queueStatus({ failed, oldest_pending_seconds }: SystemStatus["jobs"]): StatusView {
  if ((oldest_pending_seconds ?? 0) > LONGEST_WAIT_SECONDS) return { tone: "bad", word: "Jobs wait too long" };
  return failed > 0 ? { tone: "warning", word: "Some jobs have failed" } : GOOD;
}

export function databaseStatus({ connections, max_connections }: SystemStatus["database"]): StatusView {
  const share = connections / max_connections;
  if (share >= 1) return { tone: "bad", word: "No connections left" };
  return share > BUSY ? { tone: "warning", word: "Few connections left" } : GOOD;
}

/** Clusters without a session are those that are not connected, or never were. */
export function hubStatus({ hub, clusters }: Pick<SystemStatus, "hub" | "clusters">): StatusView {
  if (clusters > 0 && hub.sessions === 0) return { tone: "warning", word: "No cluster is connected" };
  return GOOD;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Bytes in the largest unit that leaves at least one: "1.5 GiB". */
export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), SIZES.length - 1);
  const amount = bytes / 1024 ** power;
  return `${amount >= 10 || Number.isInteger(amount) ? Math.round(amount) : amount.toFixed(1)} ${SIZES[power]}`;
}

import { CLOSE } from "@binnacle/contract";
import type { LiveSession, LiveSessions } from "./ports.ts";
import type { Session } from "./session.ts";

/** The sessions of this process: of each cluster the newest. */
export class SessionRegistry implements LiveSessions {
  readonly #byCluster = new Map<string, Session>();
  /** Connected, and not yet known to be whom they say. */
  readonly arriving = new Set<Session>();

  get size(): number {
    return this.#byCluster.size;
  }

  all(): IterableIterator<Session> {
    return this.#byCluster.values();
  }

  /** False where a newer one is here already: then it is this one that has been superseded. */
  put(session: Session): boolean {
    this.arriving.delete(session);
    const other = this.#byCluster.get(session.clusterId);
    if (other && other.fence.epoch > session.fence.epoch) {
      session.end(CLOSE.superseded, "a newer session has taken over");
      return false;
    }
    this.#byCluster.set(session.clusterId, session);
    other?.end(CLOSE.superseded, "a newer session has taken over");
    return true;
  }

  /** Another hub has the cluster's session now. */
  takenElsewhere(clusterId: string, epoch: number): void {
    const session = this.#byCluster.get(clusterId);
    if (session && session.fence.epoch < epoch) session.end(CLOSE.superseded, "a newer session has taken over");
  }

  remove(session: Session): void {
    this.arriving.delete(session);
    if (this.#byCluster.get(session.clusterId) === session) this.#byCluster.delete(session.clusterId);
  }

  of(clusterId: string): Session | null {
    return this.#byCluster.get(clusterId) ?? null;
  }

  live(clusterId: string): Session | null {
    const session = this.#byCluster.get(clusterId);
    return session?.state === "live" ? session : null;
  }

  /** An operator that is still telling what its cluster holds can answer already. */
  find(clusterId: string): LiveSession | null {
    const session = this.#byCluster.get(clusterId);
    return session && (session.state === "live" || session.state === "inventory") ? session : null;
  }
}

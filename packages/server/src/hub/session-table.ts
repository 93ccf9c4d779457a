import { CLOSE } from "@binnacle/contract";
import type { LiveSession, LiveSessions } from "./ports.ts";
import type { Session } from "./session.ts";

const SUPERSEDED = [CLOSE.superseded, "a newer session has taken over"] as const;

/** The sessions of this process: the newest one of each cluster, and the connections that are not admitted yet. */
export class SessionTable implements LiveSessions {
  readonly #byCluster = new Map<string, Session>();
  readonly #connecting = new Set<Session>();

  get size(): number {
    return this.#byCluster.size;
  }

  connected(session: Session): void {
    this.#connecting.add(session);
  }

  all(): IterableIterator<Session> {
    return this.#byCluster.values();
  }

  connecting(): IterableIterator<Session> {
    return this.#connecting.values();
  }

  /** Sessions that renew their lease and can be sent something. */
  welcomed(): Session[] {
    return [...this.all()].filter(({ isWelcomed }) => isWelcomed);
  }

  /** False where a newer session is here already. Then the given one is ended. */
  add(session: Session): boolean {
    this.#connecting.delete(session);
    const other = this.#byCluster.get(session.clusterId);
    if (other && other.fence.epoch > session.fence.epoch) {
      session.end(...SUPERSEDED);
      return false;
    }
    this.#byCluster.set(session.clusterId, session);
    other?.end(...SUPERSEDED);
    return true;
  }

  /** Another hub has admitted a session of the cluster. */
  supersede(clusterId: string, epoch: number): void {
    const session = this.#byCluster.get(clusterId);
    if (session && session.fence.epoch < epoch) session.end(...SUPERSEDED);
  }

  remove(session: Session): void {
    this.#connecting.delete(session);
    if (this.#byCluster.get(session.clusterId) === session) this.#byCluster.delete(session.clusterId);
  }

  of(clusterId: string): Session | null {
    return this.#byCluster.get(clusterId) ?? null;
  }

  live(clusterId: string): Session | null {
    const session = this.#byCluster.get(clusterId);
    return session?.state === "live" ? session : null;
  }

  /** An operator that is still sending its inventory can answer requests already. */
  find(clusterId: string): LiveSession | null {
    const session = this.#byCluster.get(clusterId);
    return session?.isWelcomed ? session : null;
  }
}

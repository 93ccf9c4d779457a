import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { Fault } from "../fault.ts";
import { newId } from "../id.ts";
import { converse, type Talk } from "./conversation.ts";
import { noOperatorConnected } from "./operator-requests.ts";
import type { LiveSessions } from "./ports.ts";
import { isLast, LOST, type Question, type Reply } from "./question.ts";
import { type Asked, type AskedFurther, PATIENCE, questionsTopic, type Replied, repliesTopic } from "./switchboard.ts";

export interface AskingPorts {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  /** The sessions of this process, where it is a hub. */
  readonly local: LiveSessions;
  readonly patience?: typeof PATIENCE;
}

/** Puts questions to whichever hub holds a cluster's operator. */
export interface Asking {
  /** Throws a `Fault` of `unavailable` where nobody is there to ask. */
  ask(clusterId: string, question: Question, hear: (reply: Reply) => void): Promise<Talk>;
  stop(): void;
}

interface Waiting {
  readonly hubId: string;
  readonly isStream: boolean;
  heardAtMs: number;
  hear(reply: Reply): void;
}

export function startAsking({ db, bus, clock, local, patience = PATIENCE }: AskingPorts): Asking {
  const asker = newId();
  const waiting = new Map<string, Waiting>();

  const unsubscribe = bus.subscribe(repliesTopic(asker), (message) => {
    const { ask, reply } = message as Replied;
    const waits = waiting.get(ask);
    if (waits === undefined) return;
    waits.heardAtMs = performance.now();
    if (reply === undefined) return;
    if (isLast(reply)) waiting.delete(ask);
    waits.hear(reply);
  });

  const alive = setInterval(() => {
    const silentSince = performance.now() - patience.silentMs;
    for (const [ask, waits] of waiting) {
      if (!waits.isStream) continue;
      if (waits.heardAtMs >= silentSince) tell(waits.hubId, { ask });
      else {
        waiting.delete(ask);
        waits.hear(LOST);
      }
    }
  }, patience.aliveMs);

  const tell = (hubId: string, message: Asked | AskedFurther) => bus.publish(questionsTopic(hubId), message);

  function askElsewhere(hubId: string, asked: Asked, hear: (reply: Reply) => void): Talk {
    const { ask } = asked;
    const isStream = asked.question.name === "logs";
    waiting.set(ask, { hubId, isStream, heardAtMs: performance.now(), hear });
    tell(hubId, asked);
    return {
      credit: (bytes) => tell(hubId, { ask, credit: bytes }),
      cancel: () => void (waiting.delete(ask) && tell(hubId, { ask, cancel: true })),
    };
  }

  return {
    async ask(clusterId, question, hear) {
      const session = local.find(clusterId);
      if (session) return converse(session, question, newId(), hear);
      const hubId = await hubOf(db, clusterId, clock());
      if (hubId === null) throw noOperatorConnected();
      if (!bus.isUp()) throw new Fault("unavailable", "The cluster's hub cannot be reached. Try again in a moment.");
      return askElsewhere(hubId, { ask: newId(), asker, cluster_id: clusterId, question }, hear);
    },
    stop() {
      clearInterval(alive);
      unsubscribe();
      for (const { hear } of waiting.values()) hear(LOST);
      waiting.clear();
    },
  };
}

async function hubOf(db: Queries, clusterId: string, now: Date): Promise<string | null> {
  const session = await db
    .selectFrom("cluster_sessions")
    .select("hub_id")
    .where("cluster_id", "=", clusterId)
    .where("lease_until", ">", now)
    .executeTakeFirst();
  return session?.hub_id ?? null;
}

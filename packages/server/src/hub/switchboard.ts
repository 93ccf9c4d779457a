import type { Bus } from "../bus/bus.ts";
import { converse, type Talk } from "./conversation.ts";
import type { LiveSessions } from "./ports.ts";
import { isLast, LOST, type Question, type Reply } from "./question.ts";

/** Questions to the operators that a hub holds, and what is said about them later. */
export const questionsTopic = (hubId: string) => `operator-questions.${hubId}`;
export const repliesTopic = (askerId: string) => `operator-replies.${askerId}`;

export interface Asked {
  readonly ask: string;
  readonly asker: string;
  readonly cluster_id: string;
  readonly question: Question;
}
export interface AskedFurther {
  readonly ask: string;
  readonly credit?: number;
  readonly cancel?: true;
}
/** Without a reply it says that the conversation goes on. */
export interface Replied {
  readonly ask: string;
  readonly reply?: Reply;
}

export interface Patience {
  /** How often each side says that it is there while a stream is open. */
  readonly aliveMs: number;
  /** After how long a silence the other side is taken for gone. */
  readonly silentMs: number;
}
export const PATIENCE: Patience = { aliveMs: 10_000, silentMs: 35_000 };

interface Line extends Talk {
  readonly asker: string;
  heardAtMs: number;
}

/**
 * Answers for the operators of this hub whom other processes ask. An asker that has fallen silent is taken for gone, so that no stream
 * goes on for nobody.
 */
export function startSwitchboard(hubId: string, sessions: LiveSessions, bus: Bus, patience = PATIENCE) {
  const lines = new Map<string, Line>();

  function open({ ask, asker, cluster_id, question }: Asked): void {
    const say = (reply: Reply) => {
      if (isLast(reply)) lines.delete(ask);
      bus.publish(repliesTopic(asker), { ask, reply } satisfies Replied);
    };
    const session = sessions.find(cluster_id);
    if (session === null) {
      say(LOST);
      return;
    }
    const talk = converse(session, question, ask, say);
    if (question.name === "logs") lines.set(ask, { ...talk, asker, heardAtMs: performance.now() });
  }

  function goOn({ ask, credit, cancel }: AskedFurther): void {
    const line = lines.get(ask);
    if (line === undefined) return;
    line.heardAtMs = performance.now();
    if (credit !== undefined) line.credit(credit);
    if (cancel === true) hangUp(ask, line);
  }

  function hangUp(ask: string, line: Line): void {
    lines.delete(ask);
    line.cancel();
  }

  const unsubscribe = bus.subscribe(questionsTopic(hubId), (message) => {
    const heard = message as Asked | AskedFurther;
    if ("question" in heard) open(heard);
    else goOn(heard);
  });
  const alive = setInterval(() => {
    const silentSince = performance.now() - patience.silentMs;
    for (const [ask, line] of lines) {
      if (line.heardAtMs < silentSince) hangUp(ask, line);
      else bus.publish(repliesTopic(line.asker), { ask } satisfies Replied);
    }
  }, patience.aliveMs);

  return {
    stop() {
      clearInterval(alive);
      unsubscribe();
      for (const [ask, line] of lines) hangUp(ask, line);
    },
  };
}

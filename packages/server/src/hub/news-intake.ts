import { CLOSE } from "@binnacle/contract";
import { isUnreachable } from "../database/violation.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { retryReason } from "./admission-gate.ts";
import type { Letter, News } from "./inbox.ts";
import type { ReportSink } from "./ports.ts";
import type { Session } from "./session.ts";

/** So many write at the same time, of all sessions; and so much is written at a time. */
const WRITERS = 6;
const LETTERS_A_TIME = 50;

export interface NewsIntake {
  /** `refs` are the frames that are answered once it is on record. */
  put(session: Session, news: News, bytes: number, refs: readonly string[]): void;
  stop(): Promise<void>;
}

/**
 * Brings on record what operators tell. Each session has its turn, one at a time. While the database is away the newest of each thing is
 * kept and tried again; the sessions stay.
 */
export function startNewsIntake(sink: ReportSink, log: Log): NewsIntake {
  const outage = watchOutage(log, "taking reports of clusters");
  const line = new Set<Session>();
  const busy = new Set<Session>();
  const writers = new Set<Promise<void>>();
  let failures = 0;
  let isStopped = false;
  let pause: NodeJS.Timeout | null = null;

  function serve(): void {
    if (isStopped || pause !== null) return;
    for (const session of line) {
      if (writers.size >= WRITERS) return;
      if (busy.has(session)) continue;
      line.delete(session);
      if (session.state === "ended") continue;
      busy.add(session);
      const writer = write(session).finally(() => {
        writers.delete(writer);
        busy.delete(session);
        if (session.hasNews) line.add(session);
        serve();
      });
      writers.add(writer);
    }
  }

  async function write(session: Session): Promise<void> {
    const letters = session.inbox.take(LETTERS_A_TIME);
    let done: readonly Letter[] = [];
    try {
      done = await takeTogether(session, letters).catch((error: unknown) => {
        if (isUnreachable(error)) throw error;
        return takeOneByOne(session, letters);
      });
      failures = 0;
      outage.recovered();
    } catch (error) {
      session.inbox.putBack(letters);
      failures += 1;
      outage.failed(error);
      pause ??= setTimeout(resume, pauseMsAfter(failures));
    }
    const refs = done.flatMap((letter) => letter.refs);
    if (refs.length > 0) session.send({ type: "noted", session: session.sessionId, refs });
  }

  function resume(): void {
    pause = null;
    serve();
  }

  async function takeTogether({ fence }: Session, letters: readonly Letter[]): Promise<readonly Letter[]> {
    const statuses = letters.flatMap(({ news }) => (news.type === "status" ? [news] : []));
    if (statuses.length > 0) await sink.take(fence, statuses);
    for (const { news } of letters) {
      if (news.type === "build") await sink.takeBuild(fence, news);
      if (news.type === "samples") await sink.takeSamples(fence, news);
    }
    return letters;
  }

  /** One that can never be written does not keep the others from it; its operator tells it again when it comes back. */
  async function takeOneByOne(session: Session, letters: readonly Letter[]): Promise<readonly Letter[]> {
    const done: Letter[] = [];
    for (const letter of letters) {
      try {
        done.push(...(await takeTogether(session, [letter])));
      } catch (error) {
        if (isUnreachable(error)) throw error;
        log.error({ err: error, cluster_id: session.clusterId }, "a report of a cluster cannot be taken");
      }
    }
    return done;
  }

  return {
    put(session, news, bytes, refs) {
      if (!session.inbox.put(news, bytes, refs)) return session.end(CLOSE.busy, retryReason(Math.random()));
      line.add(session);
      serve();
    },
    async stop() {
      isStopped = true;
      if (pause !== null) clearTimeout(pause);
      await Promise.all(writers);
    },
  };
}

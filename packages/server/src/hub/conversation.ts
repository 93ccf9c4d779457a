import type { LiveSession } from "./ports.ts";
import { frameOf, isLast, type Question, type Reply, replyOf } from "./question.ts";

/** A question under way. */
export interface Talk {
  /** Lets a stream send more. */
  credit(bytes: number): void;
  /** The asker does not want to know any more; nothing is heard afterwards. */
  cancel(): void;
}

/** Puts a question to an operator over its session; every reply is heard, the last of them once. */
export function converse(session: LiveSession, question: Question, id: string, hear: (reply: Reply) => void): Talk {
  const { sessionId } = session;
  let isOver = false;
  const stopListening = session.listen(id, (answer) => {
    const reply = replyOf(answer);
    if (isOver) return;
    if (isLast(reply)) end();
    hear(reply);
  });
  const end = () => {
    isOver = true;
    stopListening();
  };
  session.send(frameOf(question, id, sessionId));
  return {
    credit(bytes) {
      if (!isOver) session.send({ type: "stream_credit", ref: id, session: sessionId, credit_bytes: bytes });
    },
    cancel() {
      if (isOver) return;
      end();
      if (question.name === "logs") session.send({ type: "stream_cancel", ref: id, session: sessionId });
    },
  };
}

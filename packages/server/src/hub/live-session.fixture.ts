import { type HubFrame, NEGOTIATED_REQUESTS } from "@binnacle/contract";
import { newId } from "../id.adapter.ts";
import type { Answer, LiveSession, OnAnswer } from "./ports.ts";

/** A session whose operator says what a test tells it to say. */
export function scriptedSession(clusterId = newId(), requests = NEGOTIATED_REQUESTS) {
  const sent: HubFrame[] = [];
  const listeners = new Map<string, OnAnswer>();
  const session: LiveSession = {
    fence: { clusterId, hubId: newId(), epoch: 1 },
    sessionId: newId(),
    requests,
    send: (frame) => void sent.push(frame),
    listen(id, onAnswer) {
      listeners.set(id, onAnswer);
      return () => void listeners.delete(id);
    },
  };
  const asked = () => {
    const frame = sent.findLast((one) => "id" in one);
    if (!frame || !("id" in frame)) throw new Error("nothing was requested");
    return frame;
  };
  return {
    session,
    sent,
    /** how many requests are still listened for. */
    get open() {
      return listeners.size;
    },
    asked,
    /** False where the answer exceeds the credit of its stream. */
    answer(answer: object) {
      const { id } = asked();
      return listeners.get(id)?.({ ref: id, session: session.sessionId, ...answer } as Answer);
    },
    lose() {
      for (const onAnswer of listeners.values()) onAnswer(null);
    },
  };
}

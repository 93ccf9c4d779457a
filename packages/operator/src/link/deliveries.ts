import { type HubFrames, safeText } from "@binnacle/contract";
import type { DesiredStore, Refusal } from "../desired/desired-store.ts";
import type { KeyedWork } from "./keyed-work.ts";
import type { LinkLog } from "./link-log.ts";
import type { UnsentOf } from "./unsent.ts";

export interface DeliveryPorts {
  readonly store: Pick<DesiredStore, "apply" | "remove">;
  readonly work: KeyedWork;
  readonly log: LinkLog;
  readonly answer: (frame: UnsentOf<"ack" | "nack">) => void;
}

type Delivered = HubFrames["apply"] | HubFrames["remove"];
type Named = Pick<Delivered, "id" | "key" | "generation">;

/** Stores what was told and says so. What comes twice or late changes nothing, which the store sees to. */
export function deliver(frame: Delivered, { store, work, log, answer }: DeliveryPorts): void {
  const isTaken = work.run(frame.key, async () => {
    const refusal = await carryOut(frame, store).catch((err: unknown): Refusal => {
      log.warn({ err, key: frame.key, generation: frame.generation }, "what the hub has told could not be stored");
      return { code: "unable", message: "The cluster could not store it." };
    });
    if (refusal) answer(nack(frame, refusal));
    else answer({ type: "ack", ref: frame.id, key: frame.key, generation: frame.generation });
  });
  if (!isTaken) answer(nack(frame, { code: "unable", message: "The operator has more to store than it can take." }));
}

export function nack({ id, key, generation }: Named, { code, message }: Refusal): UnsentOf<"nack"> {
  return { type: "nack", ref: id, key, generation, code, message: safeText(message) };
}

async function carryOut(frame: Delivered, store: DeliveryPorts["store"]): Promise<Refusal | null> {
  return frame.type === "apply" ? store.apply(frame) : store.remove(frame);
}

import { executionAsyncResource } from "node:async_hooks";
import { nextTick } from "node:process";

const kept: object[] = [];

/**
 * Keeps two of the objects in which Node.js queues a tick, one without and one with arguments. If none exists, garbage
 * collection drops their hidden class, and after a few times V8 creates each of them on a slow path, at five to ten
 * times the cost. A request queues many.
 */
export function keepTickShape(): void {
  if (kept.length > 0) return;
  const keep = () => kept.push(executionAsyncResource());
  nextTick(keep);
  nextTick(keep, null);
}

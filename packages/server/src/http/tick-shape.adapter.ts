import { executionAsyncResource } from "node:async_hooks";
import { nextTick } from "node:process";

const kept: object[] = [];

/**
 * Keeps two of the objects in which Node.js queues a tick, one without and one with arguments. While none is queued, a
 * garbage collection forgets their shape; after a few of those V8 makes each of them the slow way, at five to ten times
 * the cost, and a request queues many.
 */
export function keepTickShape(): void {
  if (kept.length > 0) return;
  const keep = () => kept.push(executionAsyncResource());
  nextTick(keep);
  nextTick(keep, null);
}

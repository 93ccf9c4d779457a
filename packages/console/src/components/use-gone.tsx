import { useState } from "react";
import { failureView } from "../api/failure.ts";

/**
 * Tells an object that was deleted from one that was never there. A cluster may be faster than the next read, which then finds
 * nothing at all, so a deletion that was sent from this page counts as well as one that was seen under way.
 */
export function useGone(id: string, error: unknown, isGoing: boolean) {
  const [deleted, setDeleted] = useState<string | null>(null);
  const isMissing = error !== null && failureView(error).kind === "missing";
  return { isMissing, isGone: isMissing && (isGoing || deleted === id), onDeleted: () => setDeleted(id) };
}

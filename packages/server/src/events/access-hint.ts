import type { Event } from "./event.ts";

/** Whose access an activity may have changed: that of one session, of one user, or of anybody. */
export type Concerned = { readonly sessionId: string } | { readonly userId: string } | "anybody";

/** Said of what nothing else is known about; a question too many costs one query for all subscribers together. */
const TOUCHES_ROLES = /role|binding|grant|revoke|rbac/;

/** Null where an event changes nobody's access: most of them. */
export function concernedBy(event: Event): Concerned | null {
  if (event.type !== "activity") return null;
  const { action } = event;
  const { type, id } = event.resource;
  if (action === "session.create" || action === "user.create") return null;
  if (type === "session" && id !== null) return { sessionId: id };
  if ((type === "user" || type === "member") && id !== null) return { userId: id };
  return TOUCHES_ROLES.test(`${type} ${String(action)}`) ? "anybody" : null;
}

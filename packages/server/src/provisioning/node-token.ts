import { createHash } from "node:crypto";
import { unauthenticated } from "../fault.ts";

/** The node that also gets the operator of its cluster. */
export const CONTROL_PLANE_NODE = "control-plane";

/** Only the hash is stored, so a copy of the database joins no machine to a cluster. */
export const nodeTokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

/** The same words for a token that was used, has expired or never existed. */
export const invalidNodeToken = () => unauthenticated("invalid node token");

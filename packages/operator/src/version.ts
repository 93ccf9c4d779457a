import manifest from "../package.json" with { type: "json" };

/** What the operator tells the hub of itself. */
export const OPERATOR_VERSION = manifest.version;

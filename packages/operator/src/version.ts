import manifest from "../package.json" with { type: "json" };

/** The operator sends its version to the hub. */
export const OPERATOR_VERSION = manifest.version;

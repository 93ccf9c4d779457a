/** What a CLI token may be allowed to do, a whole vocabulary. */
export const SCOPES = ["bundles:read", "clusters:read", "clusters:register", "install:report"] as const;
export type Scope = (typeof SCOPES)[number];

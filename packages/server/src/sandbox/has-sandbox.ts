import type { Config } from "../config.ts";

/** Without an API beside it there would be nobody to use it. */
export const hasSandbox = ({
  environment,
  sandbox,
  roles,
}: Pick<Config, "environment" | "sandbox" | "roles">): boolean =>
  environment === "local" && sandbox === "on" && roles.includes("api") && roles.includes("hub");

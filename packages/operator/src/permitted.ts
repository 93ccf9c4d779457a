import type { Config } from "./config.ts";
import { AnswerError, type Answerer, ExecRefusal } from "./link/ports.ts";

/** Answers only what whoever owns the cluster permits, whatever the hub asks for and whatever the operator's rights are. */
export const permitted = (
  answerer: Answerer,
  { exec, infrastructure }: Pick<Config, "exec" | "infrastructure">,
): Answerer => ({
  ...answerer,
  ...(exec === "on" ? {} : { exec: async () => Promise.reject(new ExecRefusal("failed", NO_EXEC)) }),
  ...(infrastructure === "on"
    ? {}
    : { infrastructure: async () => Promise.reject(new AnswerError("failed", NO_INFRASTRUCTURE)) }),
});

const NO_EXEC = "Whoever owns this cluster does not permit commands in containers (rbac.exec of the operator's chart).";
const NO_INFRASTRUCTURE =
  "Whoever owns this cluster does not let Binnacle drain nodes or remove load balancers and volumes (rbac.infrastructure of the operator's chart).";

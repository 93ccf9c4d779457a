import type { BindingRole } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { Fault, notFound } from "../fault.ts";
import { type Guard, type InProject, type Input, inProject } from "../http/guard.ts";
import { findInstance } from "./addon.store.ts";
import type { Instance } from "./addon.ts";

export interface OnInstance extends InProject {
  readonly instance: Instance;
}

/** An id that no project has: the guard of projects then answers as it does for one that is not there. */
const NOWHERE = "00000000-0000-0000-0000-000000000000";

/** An addon instance is seen by those who see its project; to everybody else it is not there. */
export const onInstance = <I extends Input<{ readonly id: string }>>(
  db: Queries,
  role: BindingRole,
): Guard<OnInstance, I> => ({
  requirement: { needs: "project_role", role },
  async look(looking, input) {
    const instance = await findInstance(db, input.params.id);
    const seen = await inProject<I>(role, () => instance?.project_id ?? NOWHERE)
      .look(looking, input)
      .catch((error: unknown) => {
        throw error instanceof Fault && error.kind === "not_found" ? notFound("Addon instance") : error;
      });
    if (!instance) throw notFound("Addon instance");
    return { ...seen, instance };
  },
});

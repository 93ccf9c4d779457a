import type { OrgRole } from "@binnacle/contract";
import { judge, type PlaceRequirement } from "../access/role.ts";
import { forbidden, notFound } from "../fault.ts";
import { type Guard, type Input, type SignedIn, signedIn } from "./guard.ts";

export interface OnRecord<R> extends SignedIn {
  readonly record: R;
}

/** A record with an id of its own that belongs to an organization, with the user's role there. */
export type FindRecord<R, I extends Input> = (
  input: I,
  userId: string,
) => Promise<{ readonly record: R; readonly orgRole: OrgRole | null } | null>;

/** Says the same about a record that does not exist and about one that the caller may not see. */
export function onRecord<R, I extends Input>(
  requirement: PlaceRequirement,
  what: string,
  find: FindRecord<R, I>,
): Guard<OnRecord<R>, I> {
  return {
    requirement,
    async look(looking, input) {
      const { caller } = await signedIn.look(looking, input);
      const found = await find(input, caller.id);
      if (!found) throw notFound(what);
      const standing = { isSuperuser: caller.isSuperuser, orgRole: found.orgRole, bindingRole: null };
      const verdict = judge(requirement, standing);
      if (verdict === "hidden") throw notFound(what);
      if (verdict === "forbidden") throw forbidden();
      return { caller, record: found.record };
    },
  };
}

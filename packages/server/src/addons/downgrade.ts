import { isOlderVersion } from "@binnacle/charts";
import type { AddonDefinitionFile, ComponentSpec } from "@binnacle/contract";
import { codedConflict, type Fault } from "../fault.ts";

/**
 * A newer version of a database converts its files when it starts, and the older one does not read them any more. So an older
 * chart version of an addon that keeps data has to be confirmed.
 */

type Definition = Pick<AddonDefinitionFile, "chart" | "stateful">;

export interface Downgrade {
  readonly from: string | null;
  readonly to: string | null;
}

/** Of an addon whose definition has left the catalog it is not known what it keeps, so it counts as stateful. */
export const isGuarded = ({ from, to }: Downgrade, definition: Pick<Definition, "stateful"> | undefined): boolean => {
  if (from === to || definition?.stateful === false) return false;
  return from === null || to === null || isOlderVersion(to, from);
};

export const statefulDowngrade = (what: string, { from, to }: Downgrade, context: object = {}): Fault =>
  codedConflict(
    "stateful_downgrade",
    `${what} keeps data that chart version ${to ?? "(unknown)"} may be unable to read, because ${from ?? "another one"} has written it. Make a backup, and repeat the request with "allow_downgrade": true.`,
    { ...context, from_version: from, to_version: to },
  );

/** The first addon component that would get an older chart version, except those that are confirmed. */
export function componentDowngrade(
  before: readonly ComponentSpec[],
  after: readonly ComponentSpec[],
  find: (id: string) => Definition | undefined,
  isConfirmed: (component: string) => boolean,
): Fault | null {
  for (const { name, addon_spec } of after) {
    const earlier = before.find((component) => component.name === name)?.addon_spec;
    const id = addon_spec?.definition_id;
    if (id === undefined || earlier?.definition_id?.toLowerCase() !== id.toLowerCase() || isConfirmed(name)) continue;
    const definition = find(id);
    const pinned = definition?.chart.version ?? null;
    const change = { from: earlier.chart_version ?? pinned, to: addon_spec?.chart_version ?? pinned };
    if (isGuarded(change, definition)) return statefulDowngrade(`Component ${name}`, change, { component: name });
  }
  return null;
}

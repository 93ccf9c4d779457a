import type { KubeObject, ManagedFields } from "../../store/kube-object.ts";
import { EMPTY, type FieldSet, fromFieldsV1, isEmpty, toFieldsV1, union } from "./field-set.ts";

/** The managed fields, by an identity that is the same for every write of the same manager. */
export type Managers = Map<string, Managed>;

export interface Managed {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** Appliers are the same whatever version they use; updaters are not. */
export function managerId({ manager, operation, apiVersion, subresource }: Omit<Managed, "time" | "set">): string {
  return JSON.stringify([manager, operation, operation === "Apply" ? "" : apiVersion, subresource]);
}

export function managersOf({ metadata: { managedFields = [] } }: Pick<KubeObject, "metadata">): Managers {
  return new Map(
    managedFields.map((entry) => {
      const { manager = "", operation, apiVersion, time, subresource = "", fieldsV1 } = entry;
      const managed: Managed = { manager, operation, apiVersion, time, subresource, set: fromFieldsV1(fieldsV1 ?? {}) };
      return [managerId(managed), managed];
    }),
  );
}

export function entriesOf(managers: Managers): ManagedFields[] {
  return [...managers.values()]
    .filter(({ set }) => !isEmpty(set))
    .sort(byAge)
    .map(({ manager, operation, apiVersion, time, subresource, set }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: "FieldsV1",
      fieldsV1: toFieldsV1(set),
      ...(subresource === "" ? {} : { subresource }),
    }));
}

function byAge(a: Managed, b: Managed): number {
  const order = (one: Managed) => [one.operation, one.time ?? "", one.manager, one.apiVersion, one.subresource];
  const [first, second] = [order(a), order(b)];
  const at = first.findIndex((text, index) => text !== second[index]);
  return at < 0 ? 0 : (first[at] ?? "") < (second[at] ?? "") ? -1 : 1;
}

const MOST_UPDATERS = 10;

/** Updaters that are long ago become one, so that an object does not grow with everybody who has touched it. */
export function capped(managers: Managers): Managers {
  const updaters = [...managers]
    .filter(([, { operation }]) => operation === "Update")
    .sort(([, a], [, b]) => byAge(a, b));
  const surplus = updaters.slice(0, Math.max(0, updaters.length - MOST_UPDATERS + 1));
  const newest = surplus.at(-1)?.[1];
  if (surplus.length < 2 || !newest) return managers;
  const rest = new Map(managers);
  for (const [id] of surplus) rest.delete(id);
  const ancient: Managed = {
    ...newest,
    manager: "ancient-changes",
    subresource: "",
    set: surplus.reduce((set, [, managed]) => union(set, managed.set), EMPTY),
  };
  return rest.set(managerId(ancient), ancient);
}

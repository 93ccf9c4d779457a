import { type Input, Invalid } from "@binnacle/client";
import { type AppForm, type ComponentForm, isFields, type Path } from "./app-form.ts";

type Fields = Readonly<Record<string, unknown>>;
type Body = Input<"updateApp">["body"];

/** What is sent so that an app becomes what the form says. */
export interface AppChange {
  /** Null where there is nothing to send. */
  readonly body: Body | null;
  /** The component of the form that each change of the request is about; null for one that is removed. */
  readonly indexes: readonly (number | null)[];
  /** Values that no change can bring about, each with the reason. */
  readonly problems: readonly { readonly path: Path; readonly message: string }[];
}

/** Confirmations that the API asks for where a change loses data. */
export interface Confirmations {
  readonly recreate?: boolean;
  readonly allow_downgrade?: boolean;
}

/** The change from one version of an app to another: components that go, that come, and merge patches of the others. */
export function changeBetween(before: AppForm, after: AppForm, confirmations: Confirmations = {}): AppChange {
  const removed = before.components.filter(({ name }) => !after.components.some((it) => it.name === name));
  const changes: Fields[] = removed.map(({ name }) => ({ op: "remove", name }));
  const indexes: (number | null)[] = removed.map(() => null);
  const problems: { path: Path; message: string }[] = [];
  if (after.name !== before.name) problems.push({ path: ["name"], message: "An app cannot be renamed." });
  after.components.forEach((component, index) => {
    const old = before.components.find(({ name }) => name === component.name);
    if (!old) {
      changes.push({ op: "add", ...component });
      indexes.push(index);
      return;
    }
    const patch = mergePatchBetween(old as Fields, component as Fields);
    if (Object.keys(patch).length === 0) return;
    for (const path of newNulls(old as Fields, component as Fields)) {
      problems.push({
        path: ["components", index, ...path],
        message: "A change cannot set a field to null, because null removes it. Leave the field out.",
      });
    }
    changes.push({ op: "patch", name: component.name, ...patch, ...confirmations });
    indexes.push(index);
  });
  const isDescribedAnew = before.description !== after.description;
  if (changes.length === 0 && !isDescribedAnew) return { body: null, indexes, problems };
  const body: Body = {
    ...(changes.length > 0 ? { components: changes as unknown as NonNullable<Body["components"]> } : {}),
    ...(isDescribedAnew ? { description: after.description } : {}),
  };
  return { body, indexes, problems };
}

/** A merge patch (RFC 7396) that turns one value into the other. */
export function mergePatchBetween(before: Fields, after: Fields): Fields {
  const patch = new Map<string, unknown>();
  for (const key of Object.keys(before)) if (after[key] === undefined) patch.set(key, null);
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isSame(old, value)) continue;
    patch.set(key, isFields(old) && isFields(value) ? mergePatchBetween(old, value) : value);
  }
  return Object.fromEntries(patch);
}

/** The paths at which a field becomes null. Lists are replaced as a whole, so a null in one is a value like others. */
function newNulls(before: Fields, after: Fields): readonly Path[] {
  return Object.entries(after).flatMap(([key, value]): readonly Path[] => {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (value === null) return old === null ? [] : [[key]];
    return isFields(value) ? newNulls(isFields(old) ? old : {}, value).map((path) => [key, ...path]) : [];
  });
}

export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (!isFields(a) || !isFields(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => Object.hasOwn(a, key) === Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

export interface FormProblem {
  readonly path: Path;
  readonly message: string;
}

/** The fields that the API names in a 422, as paths in the form. The indexes of a request of changes are translated. */
export function problemsOf(error: unknown, indexes: readonly (number | null)[] | null): readonly FormProblem[] {
  if (!(error instanceof Invalid)) return [];
  return error.items.map(({ loc, msg }) => {
    const [first, index, ...rest] = loc.slice(1);
    if (first !== "components" || typeof index !== "number") return { path: loc.slice(1), message: msg };
    const at = indexes === null ? index : indexes[index];
    return { path: at === null || at === undefined ? ["components"] : ["components", at, ...rest], message: msg };
  });
}

/** The form with one component replaced. */
export const withComponent = (form: AppForm, index: number, component: ComponentForm): AppForm => ({
  ...form,
  components: form.components.map((each, at) => (at === index ? component : each)),
});

/** A component with one field of its workload set; undefined removes it. A field that is there keeps its place in the text. */
export function withWorkloadField(component: ComponentForm, field: string, value: unknown): ComponentForm {
  const set = Object.entries({ ...component.workload_spec, [field]: value }).filter(([, each]) => each !== undefined);
  return { ...component, workload_spec: Object.fromEntries(set) } as ComponentForm;
}

/** The fields of a component that the form does not show; people edit them in the text. */
const IN_THE_FORM = ["kind", "image", "replicas", "ports", "env", "resources", "ingress", "schedule"];
const BESIDE = ["name", "type", "depends_on", "workload_spec", "secrets"];

export function fieldsBeyondForm(component: ComponentForm): readonly string[] {
  const spec = Object.keys(component.workload_spec ?? {}).filter((key) => !IN_THE_FORM.includes(key));
  const own = Object.keys(component).filter((key) => !BESIDE.includes(key));
  return [...own, ...spec];
}

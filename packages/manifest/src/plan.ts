import type { App, AppComponent, ComponentInput, Input } from "@binnacle/client";
import schema from "../binnacle.schema.json" with { type: "json" };
import { secretsToSend, withCoveredSecrets, withoutSecretValues } from "./cover.ts";
import { type Confirmations, changeBetween } from "./patch.ts";
import { type AppManifest, type Fields, isFields } from "./read.ts";

type Versions = {
  /** What there is and what there will be, to be compared by people; secrets are covered. */
  readonly before: Fields;
  readonly after: Fields;
  /** The component of the file that each change of the request is about; null where the request has the file's own order. */
  readonly indexes: readonly (number | null)[] | null;
};

export type Plan = Versions &
  (
    | { readonly action: "create"; readonly body: Omit<Input<"createApp">["body"], "project_id"> }
    | { readonly action: "update"; readonly body: Input<"updateApp">["body"] }
    | { readonly action: "none" }
  );

export interface PlanOptions {
  /** Sends secrets that the app has already; without it only new ones are sent, since values cannot be compared. */
  readonly updatesSecrets: boolean;
  readonly confirmations: Confirmations;
}

type Current = Pick<App, "description" | "components">;

/** What has to be done so that the app is as the file says. A description that the file leaves out stays. */
export function planOf(app: AppManifest, current: Current | null, options: PlanOptions): Plan {
  const { name, description } = app;
  const described = (text: string | null) => (description === null ? {} : { description: text });
  if (!current) {
    const body = { name, ...(description === null ? {} : { description }), components: app.components };
    const after = { ...described(description), components: withCoveredSecrets(app).components };
    return { action: "create", before: {}, after, body, indexes: null };
  }
  const pairs = app.components.map((component) => ({
    component,
    now: current.components.find(({ name: other }) => other === component.name),
  }));
  const wanted = pairs.map(({ component, now }) => (now ? desired(component, now, options.updatesSecrets) : component));
  const kept = pairs.flatMap(({ now }, index) => (now ? [stored(now, wanted[index] ?? {})] : []));
  const removed = current.components.filter((it) => !pairs.some(({ now }) => now === it));
  const before = [...kept, ...removed.map((it) => stored(it, {}))];
  const { body, indexes } = changeBetween(
    { name, description: current.description, components: before },
    { name, description: description ?? current.description, components: wanted },
    options.confirmations,
  );
  const shown = wanted.map((component, index) =>
    pairs[index]?.now ? component : (withDefaults(component, COMPONENT) as ComponentInput),
  );
  const versions = {
    before: { ...described(current.description), components: withCoveredSecrets({ components: before }).components },
    after: { ...described(description), components: withCoveredSecrets({ components: shown }).components },
    indexes,
  };
  return body === null ? { action: "none", ...versions } : { action: "update", body, ...versions };
}

/** The annotation by which `apps restart` starts new pods. A file does not know it, and leaving it out would start new ones again. */
export const RESTARTED_AT = "restarted-at";

/** A component as the file wants it, in the server's form. A count that the file leaves out is left to `scale`, as a restart is. */
function desired({ secrets, ...component }: ComponentInput, now: AppComponent, updatesSecrets: boolean) {
  const { workload_spec: workload } = component;
  const count = now.workload_spec?.replicas;
  const isScaled = isFields(workload) && workload.replicas === undefined && typeof count === "number" && count > 0;
  const restartedAt = now.workload_spec?.annotations?.[RESTARTED_AT];
  const isRestarted = isFields(workload) && restartedAt !== undefined;
  const kept = isRestarted ? { annotations: { [RESTARTED_AT]: restartedAt, ...workload.annotations } } : {};
  const counted =
    isScaled || isRestarted
      ? { ...component, workload_spec: { ...workload, ...(isScaled ? { replicas: count } : {}), ...kept } }
      : component;
  const sent = secretsToSend({ ...component, ...(secrets ? { secrets } : {}) }, now, updatesSecrets);
  return {
    ...withoutSecretValues(withDefaults(counted, COMPONENT) as ComponentInput, now.secrets),
    ...(Object.keys(sent).length > 0 ? { secrets: sent } : {}),
  };
}

/** A component as the server has it, without what is not part of its specification, in the order of the file. */
function stored({ secrets, ready_replicas: _ready, ...component }: AppComponent, like: object): ComponentInput {
  return ordered(withoutSecretValues(component, secrets), like) as ComponentInput;
}

/** The same value with its fields in the order of another one, so that only differences show in a diff. */
function ordered(value: unknown, like: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => ordered(item, Array.isArray(like) ? like[index] : null));
  if (!isFields(value) || !isFields(like)) return value;
  const order = [...Object.keys(like), ...Object.keys(value)];
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
      .map(([key, item]) => [key, ordered(item, like[key])]),
  );
}

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly default?: unknown;
}

const COMPONENT = (schema as unknown as Shape).properties?.["components"]?.items;

/** What the server fills in is filled in here too, so that leaving out a default is not a difference. */
function withDefaults(value: unknown, shape: Shape | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => withDefaults(item, shape?.items));
  if (!isFields(value) || !shape?.properties) return value;
  const filled = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withDefaults(item, shape.properties?.[key])]),
  );
  for (const [key, { default: preset }] of Object.entries(shape.properties)) {
    if (preset !== undefined && !(key in filled)) filled[key] = preset;
  }
  return filled;
}

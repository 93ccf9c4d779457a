import type { AppComponent } from "@binnacle/client";

export interface VariableRow {
  readonly name: string;
  /** Null where it is not part of the configuration: a secret, or an export of something else. */
  readonly value: string | null;
  readonly source: string;
}

/** The variables that a component gets, and where each comes from. Secrets have a key and never a value. */
export function variableRows({ workload_spec, export_refs = [], secrets }: AppComponent): readonly VariableRow[] {
  const env = (workload_spec?.env ?? []).map(({ name, value, export_ref: ref }) => ({
    name,
    value: ref ? null : (value ?? ""),
    source: ref ? `from ${ref.component}: ${ref.key}` : "value",
  }));
  const refs = export_refs.map(({ component, key, env: variable }) => ({
    name: variable ?? key ?? "*",
    value: null,
    source: key ? `from ${component}: ${key}` : `all exports of ${component}`,
  }));
  return [...env, ...refs, ...secrets.map((key) => ({ name: key, value: null, source: "secret" }))];
}

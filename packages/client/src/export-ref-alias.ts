/**
 * `exportRef` is another spelling of `export_ref` in a variable, and `exportRefs` of `export_refs` in a component. It is
 * renamed where files are read, so that nothing else knows of it. Where both spellings are given, the other one
 * stays and is refused as an unknown field. The server has the same for requests.
 */
export function renameExportRefs(component: unknown): void {
  if (!isFields(component)) return;
  rename(component, "exportRefs", "export_refs");
  const spec = component["workload_spec"];
  if (!isFields(spec)) return;
  const containers = [spec, ...itemsOf(spec["init_containers"]), ...itemsOf(spec["sidecars"])];
  for (const container of containers) {
    for (const variable of itemsOf(container["env"])) rename(variable, "exportRef", "export_ref");
  }
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const itemsOf = (list: unknown): Fields[] => (Array.isArray(list) ? list.filter(isFields) : []);

function rename(fields: Fields, from: string, to: string): void {
  if (!Object.hasOwn(fields, from) || Object.hasOwn(fields, to)) return;
  fields[to] = fields[from];
  delete fields[from];
}

/** A JSON Schema of what the values of a chart look like, for charts that bring none. It describes and does not forbid. */
export function inferSchema(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (Array.isArray(value)) return { ...shapeOfList(value), default: value };
  if (typeof value !== "object") return { type: typeOf(value), default: value };
  const properties = Object.entries(value).map(([key, item]) => [key, inferSchema(item)] as const);
  return { type: "object", properties: Object.fromEntries(properties) };
}

function typeOf(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : "string";
}

/** What an item of the list is, where all of them are the same. */
function shapeOfList(items: readonly unknown[]): Record<string, unknown> {
  const shapes = new Map(items.map(shapeOf).map((shape) => [JSON.stringify(shape), shape]));
  const [only] = shapes.values();
  return { type: "array", ...(shapes.size === 1 && only ? { items: only } : {}) };
}

/** As `inferSchema`, without values: those of one item are no default for the others. */
function shapeOf(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (Array.isArray(value)) return shapeOfList(value);
  if (typeof value !== "object") return { type: typeOf(value) };
  const properties = Object.entries(value).map(([key, item]) => [key, shapeOf(item)] as const);
  return { type: "object", properties: Object.fromEntries(properties) };
}

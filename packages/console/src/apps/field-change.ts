/** One field that differs between two versions of something. */
export interface FieldChange {
  /** The object or component that the field belongs to. */
  readonly owner: string;
  /** The field in dotted form. */
  readonly field: string;
  readonly change: "added" | "removed" | "changed";
  /** Left out where there is none, or where it is secret. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly note?: string | undefined;
}

const LONGEST_VALUE = 2_000;

/** A value as people read it. A long one is cut, because a cluster may report anything. */
function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 1) ?? "");
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** The steps of a JSON pointer (RFC 6901). */
export const pointerSteps = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

interface DeploymentChange {
  readonly path: string;
  readonly change: FieldChange["change"];
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The changes between two deployments, each at its component. A secret has no values; it only says that it differs. */
export function deploymentChanges(changes: readonly DeploymentChange[]): readonly FieldChange[] {
  return changes.map((given) => {
    const steps = pointerSteps(given.path);
    const [owner, rest] =
      steps[0] === "components" && steps.length > 1 ? [steps[1] ?? "", steps.slice(2)] : ["", steps];
    const isHidden = given.before === undefined && given.after === undefined;
    return {
      owner,
      field: rest.length > 0 ? rest.join(".") : "the component",
      change: given.change,
      ...(given.before === undefined ? {} : { before: valueText(given.before) }),
      ...(given.after === undefined ? {} : { after: valueText(given.after) }),
      ...(isHidden ? { note: "A secret; its value is not shown." } : {}),
    };
  });
}

/** What an app's drift says about its objects in the cluster. The report of a cluster may hold anything. */
export function driftChanges(fields: readonly Readonly<Record<string, unknown>>[]): readonly FieldChange[] {
  return fields.map(({ object, pointer, desired, observed, manager }) => {
    const { kind = "", name = "" } = (object ?? {}) as { kind?: unknown; name?: unknown };
    return {
      owner: `${valueText(kind)} ${valueText(name)}`.trim(),
      field: pointerSteps(typeof pointer === "string" ? pointer : "").join(".") || "the object",
      change: desired === undefined ? "added" : observed === undefined ? "removed" : "changed",
      ...(desired === undefined ? {} : { before: valueText(desired) }),
      ...(observed === undefined ? {} : { after: valueText(observed) }),
      ...(manager === undefined ? {} : { note: `Held by ${valueText(manager)}` }),
    };
  });
}

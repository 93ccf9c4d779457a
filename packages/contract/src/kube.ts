/** The fields that all objects of Kubernetes share, whatever their kind. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFields {
  readonly manager?: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType?: "FieldsV1";
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/**
 * Any object of any kind; the reader narrows `spec`, `status` and the like. Cached objects are shared by all readers,
 * so the fields are read-only.
 */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export type Labels = Readonly<Record<string, string>>;

/** One entry of `matchExpressions`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** An unknown operator matches nothing. */
export function meetsRequirement(labels: Labels, { key, operator, values = [] }: LabelRequirement): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const QUANTITY = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|(n|u|m|k|Ki|[MGTPE]i?))?$/;

const partsOf = (quantity: unknown): RegExpExecArray | null =>
  QUANTITY.exec(typeof quantity === "string" || typeof quantity === "number" ? String(quantity) : "");

/** Parses a Kubernetes quantity such as `250m`, `1.5Gi`, `2e3` or a bare 2. Returns null for anything else. */
export function parseQuantity(quantity: unknown): number | null {
  const parts = partsOf(quantity);
  if (!parts) return null;
  const [, sign, digits, exponent, suffix = ""] = parts;
  const number = Number(`${sign}${digits}${exponent ?? ""}`);
  // Dividing keeps `100m` at 0.1; multiplying by an inexact 0.001 does not.
  const factor = SUFFIXES[suffix] ?? 1;
  return factor < 1 ? number / Math.round(1 / factor) : number * factor;
}

/** Kubernetes knows no amounts beyond these: larger ones are cut and smaller ones rounded up. Powers of ten stay small enough to compute. */
const LARGEST_EXPONENT = 40;

/** The quantity as a whole number of the given power of ten. */
function exactQuantity(quantity: unknown): { readonly count: bigint; readonly exponent: number } | null {
  const parts = partsOf(quantity);
  if (!parts) return null;
  const [, sign, digits = "", power = "e0", suffix = ""] = parts;
  const [whole = "", fraction = ""] = digits.split(".");
  const scale = SUFFIXES[suffix] ?? 1;
  const isBinary = suffix.endsWith("i");
  const exponent = Math.max(-LARGEST_EXPONENT, Math.min(LARGEST_EXPONENT, Number(power.slice(1))));
  return {
    count: BigInt(`${sign === "-" ? "-" : ""}${whole}${fraction}`) * (isBinary ? BigInt(scale) : 1n),
    exponent: exponent - fraction.length + (isBinary ? 0 : Math.round(Math.log10(scale))),
  };
}

/**
 * Returns whether one quantity is more than the other. Numbers of JavaScript are not exact beyond 2^53 bytes, and a request that is one
 * byte above its limit is refused by Kubernetes. What is not a quantity is not more than anything.
 */
export function isMoreThan(one: unknown, other: unknown): boolean {
  const [left, right] = [exactQuantity(one), exactQuantity(other)];
  if (!left || !right) return false;
  const least = Math.min(left.exponent, right.exponent);
  const [a, b] = [left, right].map(({ count, exponent }) => count * 10n ** BigInt(exponent - least));
  return (a ?? 0n) > (b ?? 0n);
}

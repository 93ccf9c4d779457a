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

/** The number that a Kubernetes quantity like `250m`, `1.5Gi`, `2e3` or a bare 2 stands for, or null when it is none. */
export function parseQuantity(quantity: unknown): number | null {
  const parts = QUANTITY.exec(typeof quantity === "string" || typeof quantity === "number" ? String(quantity) : "");
  if (!parts) return null;
  const [, sign, digits, exponent, suffix = ""] = parts;
  const number = Number(`${sign}${digits}${exponent ?? ""}`);
  // Dividing keeps `100m` at 0.1; multiplying by an inexact 0.001 does not.
  const factor = SUFFIXES[suffix] ?? 1;
  return factor < 1 ? number / Math.round(1 / factor) : number * factor;
}

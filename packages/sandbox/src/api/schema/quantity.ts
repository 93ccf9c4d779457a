const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO = 1_000_000_000n;

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|[KMGTPE]i|[MGTPE]|[eE][+-]?\d+)?$/;

/** A quantity in billionths, and how it is written; null when the text is not a quantity. */
function parsed(text: string): { readonly nanos: bigint; readonly form: "decimal" | "binary" | "exponent" } | null {
  const [, sign, whole = "", fraction = "", suffix = ""] = FORM.exec(text) ?? [];
  if (sign === undefined || whole + fraction === "") return null;
  const digits = BigInt(whole + fraction);
  const form = suffix.endsWith("i") ? "binary" : /^[eE]./.test(suffix) ? "exponent" : "decimal";
  const [up, down] =
    form === "binary"
      ? [1024n ** BigInt(BINARY.indexOf(suffix)) * NANO, 1n]
      : powers(form === "exponent" ? Number(suffix.slice(1)) + 9 : DECIMAL.indexOf(suffix) * 3);
  const divisor = down * 10n ** BigInt(fraction.length);
  const product = digits * up;
  const rounded = product / divisor + (product % divisor === 0n ? 0n : 1n);
  return { nanos: sign === "-" ? -rounded : rounded, form };
}

const powers = (exponent: number): [bigint, bigint] =>
  exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)];

/** The one way in which Kubernetes writes a quantity: `1000m` is `1`, `1024Mi` is `1Gi`. Null when the text is not a quantity. */
export function canonicalQuantity(value: string | number): string | null {
  const quantity = parsed(String(value));
  if (!quantity) return null;
  const { nanos, form } = quantity;
  if (nanos === 0n) return "0";
  const isSmall = nanos < 1024n * NANO && nanos > -1024n * NANO;
  if (form === "binary" && !isSmall && nanos % NANO === 0n) return inUnits(nanos / NANO, 1024n, BINARY);
  if (form === "exponent") return inExponents(nanos);
  return inUnits(nanos, 1000n, DECIMAL);
}

function inUnits(amount: bigint, step: bigint, units: readonly string[]): string {
  let rest = amount;
  let unit = 0;
  while (unit < units.length - 1 && rest % step === 0n) {
    rest /= step;
    unit++;
  }
  return `${rest}${units[unit]}`;
}

function inExponents(nanos: bigint): string {
  let rest = nanos;
  let exponent = -9;
  while (rest % 1000n === 0n) {
    rest /= 1000n;
    exponent += 3;
  }
  return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
}

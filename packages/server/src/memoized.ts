/** Computes once for each object, when it is first needed, which keeps the start short. */
export function memoized<Source extends object, Result>(
  compute: (source: Source) => Result,
): (source: Source) => Result {
  const known = new WeakMap<Source, Result>();
  return (source) => {
    const earlier = known.get(source);
    if (earlier) return earlier;
    const computed = compute(source);
    known.set(source, computed);
    return computed;
  };
}

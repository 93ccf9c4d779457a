/** Versions of charts, in the order of Semantic Versioning 2.0. */

interface Version {
  readonly numbers: readonly [number, number, number];
  /** Empty for a stable one. */
  readonly pre: readonly string[];
}

const VERSION = /^v?(\d{1,15})(?:\.(\d{1,15}))?(?:\.(\d{1,15}))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

function parsed(text: string): Version | null {
  const match = VERSION.exec(text);
  if (!match) return null;
  const [, major = "0", minor = "0", patch = "0", pre] = match;
  return { numbers: [Number(major), Number(minor), Number(patch)], pre: pre ? pre.split(".") : [] };
}

/** Newest first. What is no version is left out. */
export function newestFirst(versions: readonly string[]): string[] {
  return versions
    .flatMap((text) => {
      const version = parsed(text);
      return version ? [{ text, version }] : [];
    })
    .toSorted((one, other) => compare(other.version, one.version))
    .map(({ text }) => text);
}

/** The newest stable one; where there is none, the newest. */
export function newestStable(versions: readonly string[]): string | undefined {
  const sorted = newestFirst(versions);
  return sorted.find((text) => parsed(text)?.pre.length === 0) ?? sorted[0];
}

/** `v1.2.3` and `1.2.3` are one version. */
export function chosenVersion(versions: readonly string[], wanted: string | undefined): string | undefined {
  if (wanted === undefined) return newestStable(versions);
  const bare = (text: string) => text.replace(/^v(?=\d)/, "");
  return versions.find((text) => text === wanted) ?? versions.find((text) => bare(text) === bare(wanted));
}

function compare(one: Version, other: Version): number {
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  for (const [index, step] of one.pre.entries()) {
    const against = other.pre[index];
    if (against === undefined) return 1;
    const difference = compareStep(step, against);
    if (difference !== 0) return difference;
  }
  return one.pre.length - other.pre.length;
}

/** Numbers by their size and before words; words by their letters. */
function compareStep(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return Number(one) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}

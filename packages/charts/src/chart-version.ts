import { parse, type SemVer } from "semver";

/** As Helm reads them: `v1`, `1.2` and `1.2.3-rc.1` are versions too. */
const LENIENT = /^v?(\d{1,15})(?:\.(\d{1,15}))?(?:\.(\d{1,15}))?([-+].*)?$/;

function parsed(text: string): SemVer | null {
  const [matched, major, minor = "0", patch = "0", rest = ""] = LENIENT.exec(text) ?? [];
  return matched === undefined ? null : parse(`${major}.${minor}.${patch}${rest}`);
}

/** Newest first. What is not a version is left out. */
export function newestFirst(versions: readonly string[]): string[] {
  return versions
    .flatMap((text) => {
      const version = parsed(text);
      return version ? [{ text, version }] : [];
    })
    .toSorted((one, other) => other.version.compare(one.version))
    .map(({ text }) => text);
}

/** Whether the one is older than the other. Texts that are not versions cannot be compared, so they count as older. */
export function isOlderVersion(one: string, other: string): boolean {
  if (one === other) return false;
  const [mine, theirs] = [parsed(one), parsed(other)];
  return mine && theirs ? mine.compare(theirs) < 0 : true;
}

/** The newest stable one; where there is none, the newest. */
export function newestStable(versions: readonly string[]): string | undefined {
  const sorted = newestFirst(versions);
  return sorted.find((text) => parsed(text)?.prerelease.length === 0) ?? sorted[0];
}

/** `v1.2.3` and `1.2.3` are one version. */
export function chosenVersion(versions: readonly string[], wanted: string | undefined): string | undefined {
  if (wanted === undefined) return newestStable(versions);
  const bare = (text: string) => text.replace(/^v(?=\d)/, "");
  return versions.find((text) => text === wanted) ?? versions.find((text) => bare(text) === bare(wanted));
}

const UNRELEASED = /^## Unreleased( \(contract \d+\))$/m;

/** The changelog of which the section of unreleased changes has become that of the version. `date` is that of the release. */
export function releasedChangelog(text: string, version: string, date: string): string {
  if (sectionOf(text, version)) throw new Error(`CHANGELOG.md has a section ${version} already.`);
  const released = text.replace(UNRELEASED, (_, contract: string) => `## ${version}${contract}, ${date}`);
  if (released === text)
    throw new Error("CHANGELOG.md has no section of unreleased changes, so there is nothing to release.");
  return released;
}

/** The changes of a version; where it is not released yet, those that are unreleased. */
export function notesOf(text: string, version: string): string {
  const section = sectionOf(text, version) ?? sectionOf(text, "Unreleased");
  if (!section) throw new Error(`CHANGELOG.md has neither a section ${version} nor one of unreleased changes.`);
  return `# Binnacle ${version}\n\n${section}\n`;
}

export function sectionOf(text: string, name: string): string | null {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${name} (`));
  return section?.slice(section.indexOf("\n")).trim() ?? null;
}

import { expect, test } from "vitest";
import { notesOf, releasedChangelog } from "../../scripts/release/changelog.ts";
import { requireNewer, withVersion } from "../../scripts/release/versions.ts";

const CHANGELOG =
  "# Changelog\n\nWhat changed.\n\n## Unreleased (contract 3)\n\n- Users: new.\n\n## 0.1.0 (contract 2), 2026-01-02\n\n- Users: old.\n";

test("[SU2105] the unreleased section of the changelog becomes that of the version, with the date of the release", () => {
  const released = releasedChangelog(CHANGELOG, "0.2.0", "2026-03-04");
  expect(released).toBe(CHANGELOG.replace("## Unreleased (contract 3)", "## 0.2.0 (contract 3), 2026-03-04"));
  expect(() => releasedChangelog(released, "0.3.0", "2026-03-05")).toThrow("there is nothing to release");
  expect(() => releasedChangelog(CHANGELOG, "0.1.0", "2026-03-05")).toThrow("has a section 0.1.0 already");
});

test("[SU2107] the notes of a release are its section of the changelog, and before the release the unreleased one", () => {
  expect(notesOf(CHANGELOG, "0.1.0")).toBe("# Binnacle 0.1.0\n\n- Users: old.\n");
  expect(notesOf(CHANGELOG, "0.2.0")).toBe("# Binnacle 0.2.0\n\n- Users: new.\n");
  expect(() => notesOf("# Changelog\n", "0.2.0")).toThrow("neither a section 0.2.0 nor one of unreleased changes");
});

test("[SU2105] a version is changed where the product is named, and nowhere else", () => {
  const manifest = '{\n  "version": "0.1.0",\n  "dependencies": { "@binnacle/client": "0.1.0", "other": "0.1.0" }\n}\n';
  expect(withVersion("packages/cli/package.json", manifest, "0.1.0", "0.2.0")).toBe(
    '{\n  "version": "0.2.0",\n  "dependencies": { "@binnacle/client": "0.2.0", "other": "0.1.0" }\n}\n',
  );
  const lockfile = {
    version: "0.1.0",
    packages: {
      "": { version: "0.1.0" },
      "packages/cli": { version: "0.1.0", dependencies: { "@binnacle/client": "0.1.0", other: "0.1.0" } },
      "node_modules/other": { version: "0.1.0" },
    },
  };
  expect(JSON.parse(withVersion("package-lock.json", JSON.stringify(lockfile), "0.1.0", "0.2.0"))).toEqual({
    version: "0.2.0",
    packages: {
      "": { version: "0.2.0" },
      "packages/cli": { version: "0.2.0", dependencies: { "@binnacle/client": "0.2.0", other: "0.1.0" } },
      "node_modules/other": { version: "0.1.0" },
    },
  });
  expect(
    withVersion("docs/install/kubernetes.md", "server:0.1.0, 10.1.0 and 0.1.0.1, or 0.1.0.", "0.1.0", "0.2.0"),
  ).toBe("server:0.2.0, 10.1.0 and 0.1.0.1, or 0.2.0.");
  expect(withVersion("docs/operations/supply-chain.md", "verify-tag v0.1.0, of rev0.1.0", "0.1.0", "0.2.0")).toBe(
    "verify-tag v0.2.0, of rev0.1.0",
  );
});

test.each([
  ["0.2", "0.2 is not a version such as 0.2.0."],
  ["v0.2.0", "v0.2.0 is not a version such as 0.2.0."],
  ["0.1.9", "0.1.9 is older than 0.1.10, which this checkout has."],
])("[SU2106] %s is refused as the version of a release", (version, message) => {
  expect(() => requireNewer(version, "0.1.10")).toThrow(message);
});

test.each(["0.1.10", "0.1.11", "0.2.0", "1.0.0"])("[SU2106] %s is a version that may follow", (version) => {
  expect(() => requireNewer(version, "0.1.10")).not.toThrow();
});

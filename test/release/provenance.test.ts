import { expect, test } from "vitest";
import { DEBIAN_PACKAGES, HELM } from "../../scripts/images/pins.ts";
import { provenanceOf } from "../../scripts/release/provenance.ts";

const build = {
  version: "0.1.0",
  source: { commit: "c0ffee", isModified: false },
  hasGivenImages: false,
  node: "24.21.0",
  lockfileSha256: "ab",
};

test("[SU2109] the provenance is an in-toto statement of SLSA that names what was built, and from which commit, packages and programs", () => {
  const { predicate, ...statement } = JSON.parse(provenanceOf([{ name: "cli/binnacle.mjs", sha256: "cd" }], build));
  expect(statement).toEqual({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "cli/binnacle.mjs", digest: { sha256: "cd" } }],
    predicateType: "https://slsa.dev/provenance/v1",
  });
  const { externalParameters, internalParameters, resolvedDependencies } = predicate.buildDefinition;
  expect([externalParameters, internalParameters]).toEqual([
    { version: "0.1.0", hasGivenImages: false },
    { node: "24.21.0" },
  ]);
  expect(resolvedDependencies.slice(0, 2)).toEqual([
    { name: "binnacle", digest: { gitCommit: "c0ffee" } },
    { name: "package-lock.json", digest: { sha256: "ab" } },
  ]);
  const digests = resolvedDependencies.map(({ digest }: { digest: { sha256?: string } }) => digest.sha256);
  expect(digests).toEqual(
    expect.arrayContaining([
      ...DEBIAN_PACKAGES.flatMap(({ files }) => [files.amd64.sha256, files.arm64.sha256]),
      ...Object.values(HELM.sha256),
    ]),
  );
});

test("[SU2109] the provenance of a dry run says where the checkout has changes that no commit has", () => {
  const source = { commit: "c0ffee", isModified: true };
  const { predicate } = JSON.parse(provenanceOf([], { ...build, source }));
  expect(predicate.buildDefinition.resolvedDependencies[0]).toEqual({
    name: "binnacle",
    digest: { gitCommit: "c0ffee" },
    annotations: { isModified: true },
  });
});

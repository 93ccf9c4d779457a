import { ARCHITECTURES, DEBIAN, DEBIAN_PACKAGES, HELM } from "../images/pins.ts";

/** A file of the release by its path, or an image by its name, with its SHA-256. */
export interface Subject {
  readonly name: string;
  readonly sha256: string;
}

export interface Source {
  readonly commit: string;
  /** The checkout had changes that no commit has. Only a dry run allows that. */
  readonly isModified: boolean;
}

interface Build {
  readonly version: string;
  readonly source: Source;
  /** The images were built before, by another command. */
  readonly hasGivenImages: boolean;
  readonly node: string;
  readonly lockfileSha256: string;
}

/**
 * Says what was built from what: an in-toto statement with the provenance of SLSA 1.0. It has no times, so that everybody who builds
 * the same commit gets the same statement.
 */
export function provenanceOf(subjects: readonly Subject[], build: Build): string {
  const { version, source, hasGivenImages, node, lockfileSha256 } = build;
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:binnacle:npm-run-release:v1",
        externalParameters: { version, hasGivenImages },
        internalParameters: { node },
        resolvedDependencies: [
          {
            name: "binnacle",
            digest: { gitCommit: source.commit },
            ...(source.isModified ? { annotations: { isModified: true } } : {}),
          },
          { name: "package-lock.json", digest: { sha256: lockfileSha256 } },
          ...foreignParts(),
        ],
      },
      runDetails: { builder: { id: "urn:binnacle:npm-run-release" } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

/** What is in the images and comes neither from the commit nor from the lockfile. */
function foreignParts() {
  const debian = DEBIAN_PACKAGES.flatMap(({ name, files }) =>
    [...new Map(ARCHITECTURES.map((architecture) => [files[architecture].sha256, files[architecture]])).values()].map(
      ({ path, sha256 }) => ({
        name: `${name} of Debian ${DEBIAN.release}`,
        uri: `https://deb.debian.org/${path}`,
        digest: { sha256 },
      }),
    ),
  );
  const helm = ARCHITECTURES.map((architecture) => ({
    name: `helm ${HELM.version} for linux/${architecture}`,
    digest: { sha256: HELM.sha256[architecture] },
  }));
  return [...debian, ...helm];
}

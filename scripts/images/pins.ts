/** Everything of the images that comes neither from this repository nor from the lockfile, by its SHA-256. */

export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** The names that others have for an architecture. */
export const NAMES_OF: Readonly<Record<Architecture, { readonly npm: string; readonly gnu: string }>> = {
  amd64: { npm: "x64", gnu: "x86_64-linux-gnu" },
  arm64: { npm: "arm64", gnu: "aarch64-linux-gnu" },
};

/** A path at every Debian mirror, below which `debian` and `debian-security` are. */
export interface PinnedFile {
  readonly path: string;
  readonly sha256: string;
}

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly files: Readonly<Record<Architecture, PinnedFile>>;
}

const GCC = { version: "12.2.0-14+deb12u1", folder: "debian/pool/main/g/gcc-12" };

function debianPackage(
  name: string,
  { version, folder }: { readonly version: string; readonly folder: string },
  digests: Readonly<Record<Architecture, string>> | { readonly all: string },
): DebianPackage {
  const file = (architecture: Architecture): PinnedFile => {
    const [build, sha256] = "all" in digests ? ["all", digests.all] : [architecture, digests[architecture]];
    return { path: `${folder}/${name}_${version}_${build}.deb`, sha256 };
  };
  return { name, version, files: { amd64: file("amd64"), arm64: file("arm64") } };
}

export const DEBIAN = { release: "12", name: "Debian GNU/Linux 12 (bookworm)", codename: "bookworm" } as const;

/**
 * The libraries of Node.js, and the certificates of public authorities for Helm. Debian 12 has had its last point release, so
 * these stay where they are; a correction comes by `debian-security` and is a new line here.
 */
export const DEBIAN_PACKAGES: readonly DebianPackage[] = [
  debianPackage(
    "libc6",
    { version: "2.36-9+deb12u14", folder: "debian/pool/main/g/glibc" },
    {
      amd64: "ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf",
      arm64: "01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4",
    },
  ),
  debianPackage("libgcc-s1", GCC, {
    amd64: "3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7",
    arm64: "576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3",
  }),
  debianPackage("libstdc++6", GCC, {
    amd64: "5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d",
    arm64: "26e138c677a985775331373828a6c286c551ff397cb735d00e2383cb273d1cb2",
  }),
  // Holds the licence of both.
  debianPackage("gcc-12-base", GCC, {
    amd64: "1896a2aacf4ad681ff5eacc24a5b0ca4d5d9c9b9c9e4b6de5197bc1e116ea619",
    arm64: "674cf6cba6d432bd200c45fe866c1652c7a53523cc2e7a613e05bc4abf7b5440",
  }),
  debianPackage(
    "ca-certificates",
    { version: "20250419~deb12u2", folder: "debian-security/pool/updates/main/c/ca-certificates" },
    { all: "b9f76b5271a7ac373fd5e7e1b5b826a71ddd702b42a0d104955ecb1acfffc94b" },
  ),
];

/** Built by `test/kube/build.sh helm-linux-amd64 helm-linux-arm64`, which makes these bytes on every machine. */
export const HELM = {
  version: "4.3.1",
  sha256: {
    amd64: "0e7882fa728d365580edab1ef27ef3a2239ce21d4bd9bd4bef34616a6494f335",
    arm64: "1be0caf0d8f886876acd4a6d5581e1247494246f63f0ff420414c4aa6dae4008",
  },
} as const satisfies { version: string; sha256: Record<Architecture, string> };

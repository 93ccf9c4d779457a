import { createHash } from "node:crypto";
import type { LockedPackage } from "./lockfile.ts";
import { ARCHITECTURES, DEBIAN, type DebianPackage, HELM } from "./pins.ts";

export const BILL_TYPE = "application/vnd.cyclonedx+json";

interface Component {
  readonly type: "library" | "application";
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
}

export interface Contents {
  readonly image: string;
  readonly version: string;
  /** The digest of the image's index. */
  readonly digest: string;
  readonly npm: readonly LockedPackage[];
  readonly debian: readonly DebianPackage[];
  readonly hasHelm: boolean;
}

/** The CycloneDX bill of materials of an image: what is in it, and nothing else. The same contents give the same bytes. */
export function billOf({ image, version, digest, npm, debian, hasHelm }: Contents): Buffer {
  const components = [
    ...npm.map(npmComponent),
    ...debian.flatMap(debianComponents),
    ...(hasHelm ? helmComponents() : []),
  ].toSorted((one, other) => (one.purl < other.purl ? -1 : 1));
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: { type: "container", name: image, version, purl: `pkg:oci/${image}@${encodeURIComponent(digest)}` },
    },
    components: components.map((component) => ({ "bom-ref": component.purl, ...component })),
  };
  const serialNumber = serialNumberOf(JSON.stringify(bill));
  return Buffer.from(`${JSON.stringify({ ...bill, serialNumber }, null, 2)}\n`);
}

function npmComponent({ name, version, license, integrity }: LockedPackage): Component {
  const digest = integrity && Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  const isExpression = /[ ()]/.test(license);
  return {
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...(digest ? { hashes: [{ alg: "SHA-512", content: digest }] } : {}),
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
  };
}

/** Each architecture has a build of its own; a package for all of them is one. */
function debianComponents({ name, version, files }: DebianPackage): Component[] {
  const builds = new Map(ARCHITECTURES.map((architecture) => [files[architecture].sha256, architecture]));
  const of = (architecture: string) =>
    `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-${DEBIAN.release}`;
  return [...builds].map(([content, architecture]) => ({
    type: "library",
    name,
    version,
    purl: of(builds.size === 1 ? "all" : architecture),
    hashes: [{ alg: "SHA-256", content }],
  }));
}

function helmComponents(): Component[] {
  return ARCHITECTURES.map((architecture) => ({
    type: "application",
    name: "helm",
    version: HELM.version,
    purl: `pkg:golang/helm.sh/helm/v4@v${HELM.version}?arch=${architecture}`,
    hashes: [{ alg: "SHA-256", content: HELM.sha256[architecture] }],
    licenses: [{ license: { id: "Apache-2.0" } }],
  }));
}

/** The number of a bill by what it says: a UUID of version 8, whose bits its maker chooses. */
export function serialNumberOf(bill: string): string {
  const hex = createHash("sha256").update(bill).digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join("-")}`;
}

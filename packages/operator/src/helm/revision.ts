import { createHash } from "node:crypto";
import { API_GROUP, type ChartRef, canonicalJson } from "@binnacle/contract";
import { componentNames } from "../app/names.ts";
import { isOurs, ownLabels } from "../desired/ownership.ts";
import type { KubeObject, ObjectMeta } from "../kube/kube-client.ts";

/** Which release is meant, and for whom it is. */
export interface ReleaseId {
  readonly namespace: string;
  readonly name: string;
  /** `addon`, or `app.<app>.<component>`: an addon and a component may come to the same name. */
  readonly owner: string;
}

export interface HelmRelease extends ReleaseId {
  readonly chart: ChartRef;
  readonly values: Readonly<Record<string, unknown>>;
  /** The digest leaves it out: a release is not upgraded because of it. */
  readonly hookTimeoutSeconds?: number | undefined;
}

/** One revision of a release, as the labels of Helm's Secret tell it. */
export interface Revision {
  readonly secret: string;
  readonly uid: string;
  readonly version: number;
  readonly status: string;
  readonly isOurs: boolean;
  /** Of the chart and the values that it was made of, if it is by us. */
  readonly digest: string | null;
}

const OWNER_LABEL = `${API_GROUP}/release-of`;
const DIGEST_LABEL = `${API_GROUP}/digest`;
const VERSION_LABEL = `${API_GROUP}/digest-of`;

/** Labels hold no more than 63 characters. */
const DIGEST_LENGTH = 40;

export const digestOf = ({ chart, values }: Pick<HelmRelease, "chart" | "values">): string =>
  createHash("sha256").update(canonicalJson({ chart, values })).digest("hex").slice(0, DIGEST_LENGTH);

/**
 * The labels of a revision's Secret. Helm copies labels when others upgrade or roll back, so the digest holds only for
 * the version that it was written for.
 */
export const revisionLabels = (
  { owner }: Pick<ReleaseId, "owner">,
  clusterId: string,
  made: { readonly digest: string; readonly version: number },
): Readonly<Record<string, string>> => ({
  ...ownLabels(clusterId),
  [OWNER_LABEL]: owner,
  [DIGEST_LABEL]: made.digest,
  [VERSION_LABEL]: String(made.version),
});

/** Oldest first. */
export function revisionsIn(secrets: readonly { readonly metadata: ObjectMeta }[], id: ReleaseId, clusterId: string) {
  return secrets
    .map(({ metadata }): Revision => {
      const { name, uid = "", labels = {} } = metadata;
      const holder: KubeObject = { apiVersion: "v1", kind: "Secret", metadata };
      return {
        secret: name,
        uid,
        version: Number(labels["version"] ?? 0),
        status: labels["status"] ?? "unknown",
        isOurs: isOurs(holder, clusterId) && labels[OWNER_LABEL] === id.owner,
        digest: labels[VERSION_LABEL] === labels["version"] ? (labels[DIGEST_LABEL] ?? null) : null,
      };
    })
    .sort((one, other) => one.version - other.version);
}

const APP_OWNER = "app.";

export const releaseOfComponent = (namespace: string, app: string, component: string): ReleaseId => ({
  namespace,
  name: componentNames(app, component).base,
  owner: `${APP_OWNER}${app}.${component}`,
});

/** The app that the release of a component belongs to; null for that of an addon instance. */
export const appOfRelease = ({ owner }: Pick<ReleaseId, "owner">): string | null =>
  owner.startsWith(APP_OWNER) ? (owner.slice(APP_OWNER.length).split(".")[0] ?? null) : null;

export const releaseOfInstance = (namespace: string, name: string): ReleaseId => ({ namespace, name, owner: "addon" });

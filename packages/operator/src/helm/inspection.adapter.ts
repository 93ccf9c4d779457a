import { setImmediate as letOthersWork } from "node:timers/promises";
import { safeText } from "@binnacle/contract";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import { HOST_TAKEN, takenSentence } from "../hosts/host-claims.ts";
import { hasUnsafePath, hostsOf, isBroad, unlistedHostAnnotations, writtenHosts } from "../hosts/route-hosts.ts";
import type { Fields } from "../kube/object-fields.ts";
import {
  broughtBy,
  FORBIDDEN,
  FORBIDDEN_ANNOTATION,
  HelmFailure,
  type IsNamespaced,
  outsideOf,
  outsideSentence,
  UNREADABLE,
} from "./failure.ts";
import { documentsIn, objectsIn, UnreadableManifest } from "./manifest-reader.ts";
import type { Rights } from "./rights.ts";

export interface InspectionPorts {
  readonly isNamespaced: IsNamespaced;
  readonly hosts: Pick<HostClaims, "takenByOthers">;
  /** Annotations that the cluster's administrator allows although they can ask for hosts that nobody sees. */
  readonly ingressAnnotations: readonly string[];
  /** Whether the administrator allows Ingresses for all hosts and for wildcards. */
  readonly areBroadIngressesAllowed: boolean;
}

/** Refuses the objects of a release before anything is made of them. */
export type Inspect = (manifest: string, rights: Rights) => Promise<void>;

export function createInspection(ports: InspectionPorts): Inspect {
  const { isNamespaced, hosts, ingressAnnotations, areBroadIngressesAllowed } = ports;
  const allowed = new Set(ingressAnnotations);
  return async (manifest, { namespace, isClusterWide, remedy }) => {
    const objects = await objectsOf(manifest);
    // The API server would refuse it as well, but only in the middle of an upgrade. Wider rights reach further, and no more.
    const titles = isClusterWide ? [] : await outsideOf(objects.flatMap(broughtBy), namespace, isNamespaced);
    if (titles.length > 0) throw new HelmFailure(safeText(outsideSentence(titles, namespace, remedy)), FORBIDDEN);
    const annotation = objects.flatMap(unlistedHostAnnotations).find((name) => !allowed.has(name));
    if (annotation !== undefined) throw new HelmFailure(annotationSentence(annotation), FORBIDDEN_ANNOTATION);
    if (objects.some(hasUnsafePath)) throw new HelmFailure(UNSAFE_PATH, FORBIDDEN);
    // An ingress controller serves two Ingresses of one host together, so the second one would get the first one's traffic.
    const taken = hosts.takenByOthers(namespace, objects.flatMap(hostsOf));
    if (taken.length > 0) throw new HelmFailure(takenSentence("The chart", taken), HOST_TAKEN);
    if (!areBroadIngressesAllowed && objects.some(isBroad)) throw new HelmFailure(BROAD, FORBIDDEN);
  };
}

async function objectsOf(manifest: string): Promise<Fields[]> {
  try {
    const objects: Fields[] = [];
    for (const document of documentsIn(manifest)) {
      objects.push(...objectsIn(document));
      await letOthersWork();
    }
    // A number such as 1e3 is a host to Kubernetes, and another one here.
    if (objects.flatMap(writtenHosts).some((host) => typeof host !== "string")) {
      throw new UnreadableManifest("a host is not a text");
    }
    return objects;
  } catch (error) {
    if (!(error instanceof UnreadableManifest)) throw error;
    const sentence = `The chart renders YAML that cannot be read without doubt: ${error.message}. Correct its templates or values.`;
    throw new HelmFailure(safeText(sentence), UNREADABLE);
  }
}

const UNSAFE_PATH =
  "The chart has an Ingress whose path has a quote or a space in it, of which an ingress controller could make another host. Leave it out.";
const BROAD =
  "The chart has an Ingress for all hosts or for a wildcard, which some ingress controllers prefer to the hosts of other projects. " +
  "Name its hosts, or ask the administrator of the cluster to set broadIngresses of the operator's chart.";

const annotationSentence = (name: string): string =>
  safeText(
    `The chart has the annotation ${name.replace(/[^\w./-]/g, "")}, with which it could answer for hosts of others. ` +
      "Leave it out, or ask the administrator of the cluster to allow it in ingressAnnotations of the operator's chart.",
  );

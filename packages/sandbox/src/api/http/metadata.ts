import type { KubeObject } from "../../store/kube-object.ts";
import { ApiFault } from "../fault.ts";
import type { Page } from "./list.ts";

export const METADATA_KIND = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } as const;

/** What of objects is asked for: their metadata alone, of one object or of each in a list; null for all of them. */
export function metadataAsked(accept = ""): "PartialObjectMetadata" | "PartialObjectMetadataList" | null {
  if (!accept.includes("g=meta.k8s.io")) return null;
  const kind = /as=(PartialObjectMetadata(?:List)?)(?:;|,|$)/.exec(accept)?.[1];
  return kind === "PartialObjectMetadata" || kind === "PartialObjectMetadataList" ? kind : null;
}

export const asMetadata = ({ metadata }: KubeObject) => ({ ...METADATA_KIND, metadata });

/** An empty list of this form is null. */
export const asMetadataList = ({ metadata, items }: Page) => ({
  kind: "PartialObjectMetadataList",
  apiVersion: METADATA_KIND.apiVersion,
  metadata,
  items: items.length > 0 ? items.map(asMetadata) : null,
});

export const notAList = (): ApiFault =>
  notAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list");
export const isAList = (): ApiFault =>
  notAcceptable("you requested PartialObjectMetadata, but the requested object is a list");

const notAcceptable = (message: string) => new ApiFault(406, "NotAcceptable", message);

import type { Selection } from "../../store/store.ts";
import { ApiFault, badRequest, invalid, notSupported, required } from "../fault.ts";
import { isRecord } from "../fields/typed-value.ts";
import type { Removal } from "../remove.ts";
import type { ApiRequest } from "./message.ts";

const META = "meta.k8s.io";

export function dryRunIn(values: readonly string[], kind: string): boolean {
  if (values.some((value) => value !== "All")) {
    throw invalid({ group: META, kind }, "", [notSupported("dryRun", values, ["All"])]);
  }
  return values.length > 0;
}

/** The field manager: as requested, or else the name of the program. */
export function managerIn({ query, headers }: ApiRequest): string {
  const given = query.get("fieldManager") ?? "";
  if (given.length > 128) {
    const problem = {
      reason: "FieldValueTooLong",
      field: "fieldManager",
      message: "Too long: may not be more than 128 bytes",
    } as const;
    throw invalid({ group: META, kind: "PatchOptions" }, "", [problem]);
  }
  return given || (headers["user-agent"] ?? "").split("/")[0]?.slice(0, 128) || "unknown";
}

export function applierIn(request: ApiRequest): string {
  if (request.query.get("fieldManager")) return managerIn(request);
  throw invalid({ group: META, kind: "PatchOptions" }, "", [required("fieldManager", "is required for apply patch")]);
}

export const isTrue = (value: string | null): boolean => value === "true" || value === "1";

export function selectionIn({ query }: ApiRequest, namespace: string | undefined): Selection {
  const labelSelector = query.get("labelSelector");
  const fieldSelector = query.get("fieldSelector");
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
}

const POLICIES = ["Foreground", "Background", "Orphan"] as const;

/** How to delete, from the body or else from the query. */
export function removalIn({ query }: ApiRequest, body: unknown): Removal {
  const options = isRecord(body) ? body : {};
  const given =
    options["propagationPolicy"] ?? query.get("propagationPolicy") ?? orphaning(options["orphanDependents"]);
  const propagation = POLICIES.find((policy) => policy === given);
  if (given !== undefined && given !== null && !propagation) {
    throw invalid({ group: META, kind: "DeleteOptions" }, "", [
      notSupported("propagationPolicy", given, [...POLICIES, "nil"]),
    ]);
  }
  const grace = options["gracePeriodSeconds"] ?? query.get("gracePeriodSeconds");
  const gracePeriodSeconds = grace === null || grace === undefined ? undefined : Number(grace);
  if (gracePeriodSeconds !== undefined && !Number.isInteger(gracePeriodSeconds))
    throw badRequest("gracePeriodSeconds must be a whole number");
  const dryRun = Array.isArray(options["dryRun"]) ? options["dryRun"].map(String) : query.getAll("dryRun");
  const preconditions = isRecord(options["preconditions"])
    ? (options["preconditions"] as Removal["preconditions"])
    : undefined;
  return { propagation, gracePeriodSeconds, preconditions, dryRun: dryRunIn(dryRun, "DeleteOptions") };
}

const orphaning = (value: unknown) => (value === true ? "Orphan" : value === false ? "Background" : undefined);

/** A version to go on from; 0 and nothing mean whatever there is. */
export function versionIn(query: URLSearchParams): number {
  const text = query.get("resourceVersion") ?? "";
  if (/^\d*$/.test(text)) return Number(text);
  const why = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw new ApiFault(500, "", `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${why}`);
}

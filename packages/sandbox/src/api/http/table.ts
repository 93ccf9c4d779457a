import type { KubeObject } from "../../store/kube-object.ts";
import type { Core } from "../core.ts";
import type { JsonRecord } from "../fields/json-value.ts";
import type { Resource } from "../resource.ts";
import { columnsOf } from "./table-columns.ts";

/** kubectl asks for tables, which it only has to print. */
export const isTableAsked = (accept = ""): boolean => accept.includes("as=Table") && accept.includes("meta.k8s.io");

export function asTable({ clock }: Core, resource: Resource, objects: readonly KubeObject[], metadata: JsonRecord) {
  const columns = columnsOf(resource);
  const nowMs = clock.nowMs();
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: columns.map(({ name, type = "string", priority = 0 }) => ({
      name,
      type,
      format: name === "Name" ? "name" : "",
      description: "",
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, nowMs)),
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}

export const tableEvent =
  (core: Core, resource: Resource) =>
  (object: KubeObject): unknown =>
    asTable(core, resource, [object], { resourceVersion: object.metadata.resourceVersion ?? "" });

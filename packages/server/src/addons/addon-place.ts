import type { BindingRole } from "@binnacle/contract";
import type { ContentFilter, ContentList } from "../access/list.ts";
import { IN_PROJECT, type Place } from "../access/place.ts";
import { columnsOf, LONG_ADDON_COLUMNS, longOf, SHORT_ADDON_COLUMNS, surroundingsOf } from "../database/columns.ts";
import type { ListedInstance, ShownInstance } from "./addon.ts";

/** An addon instance is visible to those who see its project. */
export const addonPlace: Place<"instance", ShownInstance, string, BindingRole> = {
  key: "instance",
  title: "Addon instance",
  table: "addon_instances",
  owners: IN_PROJECT,
  requirement: (role) => ({ needs: "project_role", role }),
  columns: `${columnsOf("p", SHORT_ADDON_COLUMNS)}, ${surroundingsOf("p")}`,
  long: longOf("p", LONG_ADDON_COLUMNS),
};

interface InstanceFilter extends ContentFilter {
  readonly phase?: readonly string[] | undefined;
  readonly search?: string | undefined;
}

export const addonList: ContentList<ListedInstance, InstanceFilter> = {
  table: "addon_instances",
  columns: columnsOf("page", [...SHORT_ADDON_COLUMNS, "component_statuses", "exports"]),
  surroundings: surroundingsOf,
  conditions: { phase: { among: "phase" }, search: { contains: "name || ' ' || namespace" } },
};

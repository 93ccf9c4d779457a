import type { BindingRole } from "@binnacle/contract";
import type { ContentFilter, ContentList } from "../access/list.ts";
import { IN_PROJECT, type Place } from "../access/place.ts";
import { columnsOf, LONG_APP_COLUMNS, longOf, SHORT_APP_COLUMNS, surroundingsOf } from "../database/columns.ts";
import type { AppAddress, AppWithSecretPaths, ListedApp } from "./app.ts";

const MOST_SECRETS = 100;
const SECRET_PATHS = `select k.component || '/' || k.key from app_secrets k where k.app_id = p.id order by k.component, k.key`;
const long = longOf("p", LONG_APP_COLUMNS);

/** An app is visible to those who see its project; the address of an app of another namespace or project is a 404. */
export const appPlace: Place<"app", AppWithSecretPaths, AppAddress, BindingRole> = {
  key: "app",
  title: "App",
  table: "apps",
  owners: IN_PROJECT,
  requirement: (role) => ({ needs: "project_role", role }),
  address: {
    where: "p.project_id = $3 and p.namespace = $4 and p.name = $5",
    valuesOf: ({ projectId, namespace, name }) => [projectId, namespace, name],
  },
  columns: `${columnsOf("p", SHORT_APP_COLUMNS)}, ${surroundingsOf("p")}`,
  long: {
    // The keys of its secrets come along, because every read of an app shows them.
    columns: { ...long.columns, secret_paths: `array(${SECRET_PATHS})` },
    isLong: `${long.isLong} or exists (select from app_secrets k where k.app_id = p.id offset ${MOST_SECRETS})`,
  },
};

export const appList: ContentList<ListedApp, ContentFilter> = {
  table: "apps",
  columns: columnsOf("page", [...SHORT_APP_COLUMNS, "component_statuses", "listed_components"]),
  surroundings: surroundingsOf,
  conditions: {},
};

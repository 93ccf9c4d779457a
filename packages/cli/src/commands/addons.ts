import type { AddonDefinition, AddonInstance, AddonInstanceListItem, AddonRevision } from "@binnacle/client";
import { addonGone, addonWaited } from "../addon-outcome.ts";
import {
  arg,
  type Command,
  command,
  confirmLosses,
  inProject,
  LIMIT,
  limitOf,
  listAll,
  listing,
  option,
  send,
  verb,
} from "../command.ts";
import { WAIT_OPTIONS } from "../outcome.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";
import { showList, WATCH } from "../watching.ts";

const DEFINITION = view<AddonDefinition>(
  "name",
  column("NAME", "name"),
  column("CATEGORY", "category"),
  { title: "CHART", of: ({ chart }) => chart.version },
  column("STATEFUL", "stateful"),
  column("DESCRIPTION", "description"),
  column("ID", "id", true),
);
const ADDON = view<AddonInstance | AddonInstanceListItem>(
  "name",
  column("NAME", "name"),
  column("NAMESPACE", "namespace"),
  stateColumn("PHASE", "phase"),
  column("CHART", "chart_version"),
  column("REVISION", "revision_number"),
  column("MESSAGE", "phase_message", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const REVISION = view<AddonRevision>(
  "revision_number",
  column("REVISION", "revision_number"),
  column("CHART", "chart_version"),
  column("BY", "created_by"),
  column("NOTES", "notes"),
  ageColumn("AGE", "created_at"),
);
const THE_ADDON = arg("<addon>", "id", "addon");
const WITH_VALUES = [
  option("--chart-version <version>", "body.chart_version", "of its chart"),
  option("--notes <text>", "body.notes", "why"),
];

export const ADDON_COMMANDS: readonly Command[] = [
  listing("listAddonDefinitions", "addons catalog", "List the addons that can be installed", { view: DEFINITION }),
  verb("getAddonDefinition", "addons definition <definition>", "Show an addon of the catalog", {
    fields: [arg("<definition>", "id", "definition")],
  }),
  command("listAddonInstances", "addons list", "List the addon instances of --project, or of an organization", {
    fields: [
      option("--phase <phases>", "phase", "only in these phases, with commas between them", { kind: "list" }),
      option("--search <text>", "search", "only with this text in their name or namespace"),
      LIMIT,
      WATCH,
    ],
    async run(call, given) {
      const input = { ...(await call.find.place()), ...given.input };
      await showList<AddonInstance | AddonInstanceListItem>(call, given, ADDON, () =>
        listAll(call, "listAddonInstances", input, limitOf(given)),
      );
    },
  }),
  verb("getAddonInstance", "addons show <addon>", "Show an addon instance", { fields: [THE_ADDON], view: ADDON }),
  command("createAddonInstance", "addons create <name> <definition>", "Install an addon into a project", {
    fields: [
      inProject("body.project_id"),
      arg("<name>", "body.name"),
      arg("<definition>", "body.addon_definition_id", "definition"),
      ...WITH_VALUES,
      ...WAIT_OPTIONS,
    ],
    takesFile: true,
    also: ["getAddonInstance"],
    run: async (call, { input, options }) =>
      addonWaited(call, await send(call, "createAddonInstance", input), options, ADDON),
  }),
  command("updateAddonInstance", "addons update <addon>", "Change the values or the version of an addon", {
    fields: [
      THE_ADDON,
      ...WITH_VALUES,
      option("--allow-downgrade", "body.allow_downgrade", "to an older version, which may not read the data", {
        kind: "flag",
      }),
      ...WAIT_OPTIONS,
    ],
    takesFile: true,
    also: ["getAddonInstance"],
    run: async (call, { input, options }) =>
      addonWaited(call, await send(call, "updateAddonInstance", input), options, ADDON),
  }),
  command<"getAddonInstance">([], "addons wait <addon>", "Wait until the newest change of an addon has ended", {
    fields: [THE_ADDON, WAIT_OPTIONS[1]],
    also: ["getAddonInstance"],
    run: async (call, { input, options }) =>
      addonWaited(call, await send(call, "getAddonInstance", input), { ...options, wait: true }, ADDON),
  }),
  listing("listAddonRevisions", "addons history <addon>", "List the revisions of an addon", {
    fields: [THE_ADDON],
    view: REVISION,
  }),
  command("rollBackAddonInstance", "addons rollback <addon>", "Restore an earlier revision of an addon", {
    fields: [
      THE_ADDON,
      option("--to <revision>", "body.revision_number", "its number", { kind: "integer" }),
      option("--allow-downgrade", "body.allow_downgrade", "to an older version, which may not read the data", {
        kind: "flag",
      }),
      ...WAIT_OPTIONS,
    ],
    also: ["getAddonInstance"],
    run: async (call, { input, options }) =>
      addonWaited(call, await send(call, "rollBackAddonInstance", input), options, ADDON),
  }),
  command("deleteAddonInstance", "addons delete <addon>", "Delete an addon instance", {
    fields: [THE_ADDON, ...WAIT_OPTIONS],
    also: ["previewAddonInstanceDeletion", "getAddonInstance"],
    async run(call, { input, options, args }) {
      const name = args["addon"] ?? input.id;
      await confirmLosses(call, "previewAddonInstanceDeletion", input, `Delete the addon ${name}?`);
      await send(call, "deleteAddonInstance", input);
      return addonGone(call, input.id, name, options);
    },
  }),
];

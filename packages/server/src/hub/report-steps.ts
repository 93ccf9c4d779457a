import type { AddonDefinitionFile } from "@binnacle/contract";
import type { Instance } from "../addons/addon.ts";
import { addonAfterReport, missingAddon } from "../addons/addon-report.ts";
import { appAfterReport, missingApp, type ReportedApp } from "../apps/app-report.ts";
import { confirmedGone, type Project } from "../projects/project.ts";
import { projectAfterReport } from "../projects/project-report.ts";
import type { Steps } from "./report-outcome.ts";

/** How reports bring on a resource of each kind. */

export const appSteps = (now: Date): Steps<ReportedApp, "app"> => ({
  seen: (before, generation, report) => appAfterReport(before, generation, report, now),
  missing: missingApp,
  isLeaving: ({ app }) => app.phase === "deleting",
});

type FindDefinition = (id: string) => Pick<AddonDefinitionFile, "export_schema"> | undefined;

export const addonSteps = (definitionOf: FindDefinition): Steps<Instance, "addon_instance"> => ({
  seen: (before, generation, report) =>
    addonAfterReport(before, generation, report, definitionOf(before.definition_id) ?? null),
  missing: missingAddon,
  isLeaving: ({ phase }) => phase === "deleting",
});

/** A namespace that was deleted is made again by itself; the project stays as it is known until then. */
export const projectSteps: Steps<Project, "project"> = {
  seen: (before, generation, report, row) =>
    generation === row.generation ? projectAfterReport(before, report) : before,
  missing: (before) => before,
  isLeaving: confirmedGone,
};

/** Pull secrets have no record of their own. */
export const registrySecretsSteps: Steps<null, "registry_secrets"> = {
  seen: () => null,
  missing: () => null,
  isLeaving: () => true,
};

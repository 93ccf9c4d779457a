import type { Selectable } from "kysely";
import type { ProjectTable } from "../database/fleet-tables.ts";

export type Project = Selectable<ProjectTable>;

import type { TemplateComponent, TemplateParameter, TemplateScope } from "@binnacle/contract";
import type { Generated } from "kysely";
import type { Json, Timestamps } from "./fleet-tables.ts";

export interface StackTemplateTable extends Timestamps {
  id: string;
  org_id: string;
  /** The project of scope `project`; null in old rows that fit no single project. */
  project_id: string | null;
  /** The cluster of scope `cluster`. */
  cluster_id: string | null;
  namespace: string;
  name: string;
  version: string;
  scope: TemplateScope;
  description: string | null;
  icon: string | null;
  tags: string[];
  components: Json<TemplateComponent[]>;
  parameters: Json<TemplateParameter[]>;
  /** Incremented with each change. */
  generation: Generated<number>;
}

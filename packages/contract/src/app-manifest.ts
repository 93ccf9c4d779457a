import Type from "typebox";
import { strict } from "./fields.ts";
import { createApp } from "./rest/apps.ts";

const { project_id: _project, ...fields } = createApp.body.properties;

/**
 * One app of a `binnacle.yaml`: the body of its creation, with the project by name. The server publishes it as a JSON
 * schema, so that editors complete and check the file.
 */
export const AppManifest = Type.Object(
  {
    name: fields.name,
    project: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 63,
        description: "The name of the project. The option --project of the command line goes before it.",
        examples: ["shop"],
      }),
    ),
    description: fields.description,
    components: fields.components,
  },
  { ...strict, title: "binnacle.yaml", description: "An app for `binnacle apps deploy -f`." },
);

/** The path at which the server publishes the schema. */
export const MANIFEST_SCHEMA_PATH = "/schemas/binnacle.schema.json";

/** The schema as a document. A copy through JSON leaves out what only TypeBox reads. */
export const appManifestSchema = (): Record<string, unknown> => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...(JSON.parse(JSON.stringify(AppManifest)) as Record<string, unknown>),
});

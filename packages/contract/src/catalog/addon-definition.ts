import Type, { type Static } from "typebox";
import { ExportKey } from "../app/pod-fields.ts";
import { ChartName, DnsLabel, FreeMap, strict } from "../fields.ts";
import { ExportSource } from "./placeholders.ts";

/** The definition of an addon: its chart, the values that may be set, and the exports that apps may use. */

const ValuePath = Type.String({
  maxLength: 500,
  pattern: "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$",
  examples: ["rootPassword"],
});

const Version = Type.String({ minLength: 1, maxLength: 100, pattern: "^[!-~]+$", examples: ["5.4.0"] });
const Free = FreeMap({ examples: [{}] });

export const ADDON_CATEGORIES = ["database", "cache", "messaging", "storage"] as const;

export const ExportDeclaration = Type.Object(
  {
    description: Type.String({ minLength: 1, maxLength: 500, examples: ["Where clients connect."] }),
    secret: Type.Boolean({ description: "Reads of the API show that it is there and not what it is." }),
    from: ExportSource,
  },
  strict,
);

export const AddonDefinitionFile = Type.Object(
  {
    name: DnsLabel("minio"),
    display_name: Type.String({ minLength: 1, maxLength: 100, examples: ["MinIO"] }),
    category: Type.Enum(ADDON_CATEGORIES),
    icon: Type.String({
      maxLength: 100,
      pattern: "^[a-z0-9-]+$",
      description: "The name of a picture; a client that has no such picture shows a general one.",
      examples: ["minio"],
    }),
    description: Type.String({ minLength: 1, maxLength: 2000, examples: ["Object storage that speaks S3."] }),
    stateful: Type.Boolean({
      description: "It keeps data that an older version may be unable to read: a downgrade has to be confirmed.",
      examples: [true],
    }),
    chart: Type.Object(
      {
        repo: Type.String({
          maxLength: 2000,
          pattern: "^(https|oci)://[!-~]+$",
          description: "A Helm repository, or the OCI path that the chart's name is appended to.",
          examples: ["https://charts.min.io"],
        }),
        name: ChartName,
        version: Version,
        versions: Type.Array(Version, { minItems: 1, maxItems: 100, uniqueItems: true, description: "Newest first." }),
      },
      strict,
    ),
    default_values: Free,
    values_schema: { ...Free, description: "JSON Schema 2020-12 of the values that people may set." },
    secret_values: Type.Array(ValuePath, {
      maxItems: 50,
      uniqueItems: true,
      description: "Dotted paths of values that are kept sealed; made up when missing.",
    }),
    plain_values: Type.Optional(
      Type.Array(ValuePath, {
        maxItems: 50,
        uniqueItems: true,
        description: "Dotted paths of values that look like secrets and are not. Others that do are refused.",
        examples: [["session.key"]],
      }),
    ),
    export_schema: Type.Record(ExportKey, ExportDeclaration, {
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 100,
      examples: [{ host: { description: "The host.", secret: false, from: { service: `\${fullname}` } } }],
    }),
  },
  strict,
);
export type AddonDefinitionFile = Static<typeof AddonDefinitionFile>;

import Type, { type Static } from "typebox";
import { ChartName, DnsLabel, DnsSubdomain, FreeMap, strict, Uuid } from "../fields.ts";
import { exactlyOneOf, given, holds, holdsByDefault, where } from "../rules.ts";
import { COMPONENT_TYPES, WORKLOAD_KINDS } from "../states.ts";
import {
  Affinity,
  EnvName,
  ExportKey,
  Files,
  ImageReference,
  InitContainers,
  NodeSelector,
  Resources,
  SecretKey,
  SecurityContext,
  Sidecars,
  TerminationGrace,
  Text,
  Tolerations,
  TopologySpread,
  Variables,
  Words,
  WorkloadAnnotations,
  WorkloadLabels,
} from "./pod-fields.ts";
import { Volumes } from "./volumes.ts";

/** The components of an app. Apps, templates and the messages to the operator use the same shape. */

const Port = Type.Integer({ minimum: 1, maximum: 65_535, examples: [8080] });
const HOST_LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
export const HOST_PATTERN = `^(\\*\\.)?${HOST_LABEL}(\\.${HOST_LABEL})*$`;
const Probe = Type.Object(
  {
    path: Type.Optional(
      Type.String({
        maxLength: 1024,
        pattern: "^/",
        description: "An HTTP GET; without it the port is opened.",
        examples: ["/healthz"],
      }),
    ),
    port: Type.Optional(Port),
    command: Type.Optional(Type.Array(Text, { minItems: 1, maxItems: 100, examples: [["true"]] })),
    initial_delay_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 3600 })),
    period_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
    failure_threshold: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  },
  {
    ...strict,
    title: "Probe",
    description: "Exactly one of `port`, with or without `path`, and `command`.",
    allOf: [exactlyOneOf("port", "command"), where(given("command"), "A path goes with a port", { refuses: ["path"] })],
    examples: [{ path: "/healthz", port: 8080 }],
  },
);

export const WorkloadSpec = Type.Object(
  {
    kind: Type.Optional(Type.Enum(WORKLOAD_KINDS, { default: "deployment" })),
    image: Type.Optional(ImageReference),
    command: Type.Optional(Words(["nginx"])),
    args: Type.Optional(Words(["-g", "daemon off;"])),
    replicas: Type.Optional(Type.Integer({ exclusiveMinimum: 0, maximum: 10_000, default: 1 })),
    ports: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: DnsLabel("http", 15),
            port: Port,
            protocol: Type.Optional(Type.Enum(["TCP", "UDP", "SCTP"], { default: "TCP" })),
          },
          { ...strict, title: "WorkloadPort" },
        ),
        { maxItems: 50 },
      ),
    ),
    env: Type.Optional(Variables),
    resources: Type.Optional(Resources),
    probes: Type.Optional(
      Type.Object(
        { liveness: Type.Optional(Probe), readiness: Type.Optional(Probe), startup: Type.Optional(Probe) },
        strict,
      ),
    ),
    volumes: Type.Optional(Volumes),
    ingress: Type.Optional(
      Type.Object(
        {
          host: Type.String({
            minLength: 1,
            maxLength: 253,
            pattern: HOST_PATTERN,
            description:
              "In lower case, in punycode where it is not ASCII. One project of a cluster has a host; a wildcard is for administrators of the organization.",
            examples: ["shop.example.com"],
          }),
          path: Type.Optional(Type.String({ maxLength: 1024, pattern: "^/[A-Za-z0-9._~/%-]*$", default: "/" })),
          port: Type.Optional(Port),
          tls: Type.Optional(Type.Boolean({ default: false })),
          class: Type.Optional(
            DnsSubdomain(
              "nginx",
              "The IngressClass whose controller serves the host; the default one of the cluster where it is left out.",
            ),
          ),
        },
        { ...strict, title: "WorkloadIngress" },
      ),
    ),
    autoscale: Type.Optional(
      Type.Object(
        {
          min: Type.Integer({ minimum: 1, maximum: 10_000, examples: [2] }),
          max: Type.Integer({ minimum: 1, maximum: 10_000, examples: [6] }),
          cpu_percent: Type.Integer({ minimum: 1, maximum: 100, examples: [70] }),
        },
        { ...strict, title: "WorkloadAutoscale" },
      ),
    ),
    schedule: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern:
          "^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|([0-9A-Za-z*?/,-]+ +){4}[0-9A-Za-z*?/,-]+)$",
        description: "Cron, for a cronjob and nothing else.",
        examples: ["0 3 * * *"],
      }),
    ),
    files: Type.Optional(Files),
    init_containers: Type.Optional(InitContainers),
    sidecars: Type.Optional(Sidecars),
    labels: Type.Optional(WorkloadLabels),
    annotations: Type.Optional(WorkloadAnnotations),
    node_selector: Type.Optional(NodeSelector),
    tolerations: Type.Optional(Tolerations),
    affinity: Type.Optional(Affinity),
    topology_spread: Type.Optional(TopologySpread),
    security_context: Type.Optional(SecurityContext),
    termination_grace_seconds: Type.Optional(TerminationGrace),
  },
  {
    ...strict,
    title: "WorkloadSpec",
    allOf: [
      where(holds("kind", ["cronjob"]), "A cronjob needs a schedule", { requires: ["schedule"] }),
      where(
        holdsByDefault("kind", ["deployment", "statefulset", "daemonset", "job"]),
        "Only a cronjob has a schedule",
        {
          refuses: ["schedule"],
        },
      ),
      where(holds("kind", ["job", "cronjob"]), "A job does not scale by itself", { refuses: ["autoscale"] }),
      where(holds("kind", ["daemonset"]), "A daemonset has one pod on each node: no other replicas, and no volumes", {
        refuses: ["autoscale", "volumes"],
        // The default is filled in before the rule is checked.
        fields: { replicas: { const: 1 } },
      }),
    ],
    examples: [{ image: "nginx:1.29", replicas: 2, ports: [{ name: "http", port: 80 }] }],
  },
);
export type WorkloadSpec = Static<typeof WorkloadSpec>;

const Values = FreeMap({ examples: [{}] });

export const AddonSpec = Type.Object(
  {
    instance: Type.Optional(DnsLabel("db")),
    definition_id: Type.Optional(Uuid()),
    values: Type.Optional(Values),
    chart_version: Type.Optional(Type.String({ minLength: 1, maxLength: 100, examples: ["16.4.1"] })),
  },
  {
    ...strict,
    title: "AddonSpec",
    description: "`instance`, the name of a standalone one, or `definition_id` with values.",
    allOf: [
      exactlyOneOf("instance", "definition_id"),
      where(given("instance"), "A standalone instance has its own", { refuses: ["values", "chart_version"] }),
    ],
    examples: [{ instance: "db" }],
  },
);

const LONGEST_SECRET_PATH = 253;
const SECRET_PATH = "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$";

/**
 * The dotted path to one value of a chart. It is also used as a key of a Secret, so it takes only the characters of
 * one.
 */
export const SecretPath = Type.String({
  maxLength: LONGEST_SECRET_PATH,
  pattern: SECRET_PATH,
  examples: ["auth.password"],
});
export const isSecretPath = (path: string): boolean =>
  path.length <= LONGEST_SECRET_PATH && new RegExp(SECRET_PATH).test(path);

/** The limit of one component. */
export const MAX_SECRETS = 200;

export const DEFAULT_HOOK_TIMEOUT_S = 300;

/** How long Helm waits for each hook of a chart. */
export const HookTimeout = Type.Integer({
  minimum: 10,
  maximum: 3600,
  description: `How long each hook of the chart may take, such as a migration of a database; ${DEFAULT_HOOK_TIMEOUT_S} where it is left out. Beyond it the change has failed.`,
  examples: [900],
});

export const ChartSpec = Type.Object(
  {
    repo: Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: "^(https?|oci)://[!-~]+$",
      description:
        "A Helm repository, or the OCI path that the chart's name is appended to. `http://` is for hosts on the allow-list.",
      examples: ["https://charts.example.com"],
    }),
    name: ChartName,
    version: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, pattern: "^[0-9A-Za-z][0-9A-Za-z.+_-]*$", examples: ["4.13.0"] }),
    ),
    hook_timeout_seconds: Type.Optional(HookTimeout),
    values: Type.Optional(Values),
    secret_values: Type.Optional(
      Type.Array(SecretPath, {
        maxItems: 100,
        uniqueItems: true,
        description:
          "Dotted paths of values that are secret. A text that is given there is kept sealed, as the secret of the component " +
          "that has the path as its key, and reads as a reference to the Secret that holds it.",
      }),
    ),
    plain_values: Type.Optional(
      Type.Array(SecretPath, {
        maxItems: 100,
        uniqueItems: true,
        description:
          "Dotted paths of values that look like secrets and are not, or of maps and lists of such values. A text is sealed as " +
          "`secret_values` are if its name or one above it is that of a password, a token, a secret, a key or the like, or if it holds " +
          "a key, a token or an address with a password. In lists, where it cannot be sealed, it is refused.",
        examples: [["session.key"]],
      }),
    ),
    sealed_values: Type.Optional(
      Type.Array(SecretPath, {
        readOnly: true,
        maxItems: MAX_SECRETS,
        description:
          "The paths that were sealed because they look like secrets. The server keeps the list; one that is sent is ignored.",
        examples: [["auth.password"]],
      }),
    ),
  },
  { ...strict, title: "ChartSpec" },
);
type ChartSpec = Static<typeof ChartSpec>;

/** The paths of the values that are stored as secrets of the component: those that were named, and those that look like secrets. */
export const secretPathsOfChart = (chart: ChartSpec | undefined): readonly string[] => [
  ...new Set([...(chart?.secret_values ?? []), ...(chart?.sealed_values ?? [])]),
];

/** The fields that every form of a component has. */
const shared = {
  name: DnsLabel("web"),
  type: Type.Optional(Type.Enum(COMPONENT_TYPES, { default: "workload" })),
  depends_on: Type.Optional(Type.Array(DnsLabel("db"), { maxItems: 100 })),
  workload_spec: Type.Optional(WorkloadSpec),
  addon_spec: Type.Optional(AddonSpec),
  chart_spec: Type.Optional(ChartSpec),
  exports: Type.Optional(
    Type.Record(ExportKey, Text, {
      ...strict,
      maxProperties: 100,
      description:
        `Beside \`host\`, \`port\` and \`url\`, which a workload with ports exports by itself. A text may hold \`\${host}\`, ` +
        `\`\${port}\`, \`\${url}\`, \`\${NAME_port}\` and \`\${NAME_url}\` of the port NAME, and \`\${secret.KEY}\`, a secret of the ` +
        `component. \`|uri\` behind the name escapes the value for a URL, and \`$\${\` is the text \`\${\`. An export with a secret in ` +
        "it is secret: components that use it read it from a Secret.",
      examples: [{ path: "/v1" }],
    }),
  ),
  export_refs: Type.Optional(
    Type.Array(
      Type.Object(
        { component: DnsLabel("db"), key: Type.Optional(ExportKey), env: Type.Optional(EnvName) },
        { ...strict, title: "ComponentExportRef" },
      ),
      { maxItems: 100, description: "In requests `exportRefs` is another spelling; both together are refused." },
    ),
  ),
};

const SPECS = { workload: "workload_spec", addon: "addon_spec", chart: "chart_spec" } as const;

/**
 * A component has the specification of its type and no other. A type that is a placeholder is checked once it is
 * filled.
 */
export const componentRules = COMPONENT_TYPES.map((type) => {
  const { [type]: own, ...others } = SPECS;
  return where(
    type === "workload" ? holdsByDefault("type", [type]) : holds("type", [type]),
    `A component of type ${type} has ${own} and no other specification`,
    { requires: [own], refuses: Object.values(others) },
  );
});

export const SecretValue = Type.String({ maxLength: 65_536, examples: ["<SECRET>"] });
export const SecretValues = Type.Record(SecretKey, SecretValue, {
  ...strict,
  maxProperties: MAX_SECRETS,
  examples: [{ API_KEY: "<SECRET>" }],
});

/** The form of a request, which may carry secrets. */
export const ComponentInput = Type.Object(
  { ...shared, secrets: Type.Optional(SecretValues) },
  {
    ...strict,
    title: "ComponentInput",
    allOf: componentRules,
    description: "`secrets` are written and never read back; reads give their keys.",
    examples: [
      { name: "web", workload_spec: { image: "nginx:1.29", replicas: 2, ports: [{ name: "http", port: 80 }] } },
    ],
  },
);
export type ComponentInput = Static<typeof ComponentInput>;

/** The stored form. Secrets are stored separately, sealed. */
export const ComponentSpec = Type.Object(shared, {
  ...strict,
  title: "ComponentSpec",
  allOf: componentRules,
  examples: [{ name: "web", type: "workload", workload_spec: { image: "nginx:1.29", replicas: 2 } }],
});
export type ComponentSpec = Static<typeof ComponentSpec>;

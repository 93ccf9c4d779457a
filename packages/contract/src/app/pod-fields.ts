import Type from "typebox";
import { DnsLabel, strict } from "../fields.ts";
import { exactlyOneOf, except, given, holds, type Rule, where } from "../rules.ts";

/** Fields of the pods of a workload: what its containers are given, what the pods are called, and where they run. */

const Quantity = Type.String({
  maxLength: 32,
  pattern: "^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?$",
  examples: ["250m"],
});
const Amounts = Type.Object(
  { cpu: Type.Optional(Quantity), memory: Type.Optional(Quantity) },
  { ...strict, title: "ResourceAmounts" },
);
export const Resources = Type.Object(
  { requests: Type.Optional(Amounts), limits: Type.Optional(Amounts) },
  { ...strict, title: "ResourceRequirements", examples: [{ requests: { cpu: "100m", memory: "128Mi" } }] },
);

export const Text = Type.String({ maxLength: 32_768 });
export const Words = (example: readonly string[]) => Type.Array(Text, { maxItems: 200, examples: [example] });
export const ImageReference = Type.String({
  minLength: 1,
  maxLength: 1024,
  pattern: "^[!-~]+$",
  examples: ["nginx:1.29"],
});

export const ExportKey = Type.String({
  maxLength: 253,
  pattern: "^[A-Za-z0-9]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?$",
  examples: ["url"],
});
export const ExportRef = Type.Object({ component: DnsLabel("db"), key: ExportKey }, { ...strict, title: "ExportRef" });

export const EnvName = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: "^[A-Za-z_][A-Za-z0-9_.-]*$",
  examples: ["LOG_LEVEL"],
});
const EnvVar = Type.Object(
  { name: EnvName, value: Type.Optional(Text), export_ref: Type.Optional(ExportRef) },
  {
    ...strict,
    title: "EnvVar",
    description: "Exactly one of `value` and `export_ref`. In requests `exportRef` is another spelling of it.",
    allOf: [exactlyOneOf("value", "export_ref")],
    examples: [{ name: "LOG_LEVEL", value: "info" }],
  },
);
export const Variables = Type.Array(EnvVar, { maxItems: 500 });

/** A container beside the one of the component. It is given what that one is given, and its own variables come first. */
const Container = Type.Object(
  {
    name: DnsLabel("helper"),
    image: ImageReference,
    command: Type.Optional(Words(["sh", "-c", "true"])),
    args: Type.Optional(Words(["--verbose"])),
    env: Type.Optional(Variables),
    resources: Type.Optional(Resources),
  },
  { ...strict, title: "Container", examples: [{ name: "helper", image: "busybox:1.37" }] },
);
const SHARED =
  "They have the variables, secrets, files and volumes of the component, and their own `env` before these.";

export const InitContainers = Type.Array(Container, {
  maxItems: 10,
  description: `Run one after the other, each to its end, before the others start. ${SHARED}`,
});
export const Sidecars = Type.Array(Container, {
  maxItems: 10,
  description: `Start before the container of the component and end after it; a job is done without them. ${SHARED}`,
});

/** The syntax of Kubernetes for keys of a Secret. It reserves `.`, `..` and keys that begin with two dots. */
export const SecretKey = Type.String({
  maxLength: 253,
  pattern: "^([A-Za-z0-9_-][A-Za-z0-9._-]{0,252}|\\.[A-Za-z0-9_-][A-Za-z0-9._-]{0,251})$",
  examples: ["API_KEY"],
});

const NAME_IN_PATH = "\\.{0,2}[A-Za-z0-9_~+@=,%-][A-Za-z0-9._~+@=,%-]{0,250}";

/** Files over these would stand in for what the kubelet gives a container: its credentials, devices and addresses. */
const NOT_OF_THE_KUBELET = except("The kubelet mounts its own there: choose another path", {
  pattern: "^/((proc|sys|dev|run/secrets|var/run/secrets)(/[!-~]*)?|etc/(hosts|hostname|resolv\\.conf))$",
});

export const Files = Type.Array(
  Type.Object(
    {
      path: Type.String({
        maxLength: 1024,
        pattern: `^(/${NAME_IN_PATH}){1,32}$`,
        allOf: [NOT_OF_THE_KUBELET],
        examples: ["/etc/app/config.yaml"],
      }),
      content: Type.Optional(Type.String({ maxLength: 131_072, examples: ["log_level: info\n"] })),
      secret: Type.Optional({ ...SecretKey, description: "The key of a secret of the component." }),
    },
    {
      ...strict,
      title: "WorkloadFile",
      description: "Exactly one of `content` and `secret`.",
      allOf: [exactlyOneOf("content", "secret")],
      examples: [{ path: "/etc/app/config.yaml", content: "log_level: info\n" }],
    },
  ),
  { maxItems: 100, description: "Read-only files in every container. Pods are replaced when one of them changes." },
);

/** The syntax of Kubernetes for keys of labels and annotations, with the prefix that it allows. */
const QUALIFIED_NAME = "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
const LabelKey = (example: string, rules: readonly Rule[] = []) =>
  Type.String({
    maxLength: 317,
    pattern: QUALIFIED_NAME,
    ...(rules.length > 0 ? { allOf: rules } : {}),
    examples: [example],
  });
const LabelValue = Type.String({
  maxLength: 63,
  pattern: "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
  examples: ["payments"],
});

/**
 * Kubernetes, network plugins and Binnacle act on such keys: by them pods are found, counted, let in and sealed. A component
 * that could set them would put its pods under the Service or the policy of others.
 */
const reserved = (what: string, ...names: readonly string[]): Rule => ({
  description: `${what} of Binnacle, Kubernetes and network plugins are reserved`,
  patternProperties: {
    "^([-a-z0-9]+\\.){0,10}(binnacle\\.dev|kubernetes\\.io|k8s\\.io|cni\\.cncf\\.io|cni\\.projectcalico\\.org)/": false,
    ...(names.length > 0 ? { [`^(${names.join("|")})$`]: false } : {}),
  },
});

export const WorkloadLabels = Type.Record(Type.String({ pattern: QUALIFIED_NAME }), LabelValue, {
  ...strict,
  maxProperties: 50,
  allOf: [
    reserved(
      "Labels",
      ...["pod-template-hash", "controller-revision-hash", "pod-template-generation", "job-name", "controller-uid"],
    ),
  ],
  description: "Further labels of the workload and its pods.",
  examples: [{ team: "payments" }],
});

export const WorkloadAnnotations = Type.Record(
  Type.String({ pattern: QUALIFIED_NAME }),
  Type.String({ maxLength: 4096, examples: ["true"] }),
  {
    ...strict,
    maxProperties: 50,
    allOf: [reserved("Annotations")],
    description: "Annotations of the workload and its pods.",
    examples: [{ "prometheus.io/scrape": "true" }],
  },
);

export const NodeSelector = Type.Record(Type.String({ pattern: QUALIFIED_NAME }), LabelValue, {
  ...strict,
  maxProperties: 50,
  description: "Labels that a node has to have.",
  examples: [{ "kubernetes.io/arch": "arm64" }],
});

/** A pod on a node of the control plane is one step away from the whole cluster, so no project may go there. */
const NOT_THE_CONTROL_PLANE = except(
  "Nodes of the control plane are not for workloads: a taint node-role.kubernetes.io/… or CriticalAddonsOnly is not tolerated",
  { pattern: "^(node-role\\.kubernetes\\.io/|CriticalAddonsOnly$)" },
);
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

const Toleration = Type.Object(
  {
    key: LabelKey("dedicated", [NOT_THE_CONTROL_PLANE]),
    operator: Type.Optional(Type.Enum(["Equal", "Exists"], { default: "Equal" })),
    value: Type.Optional(LabelValue),
    effect: Type.Optional(Type.Enum(EFFECTS, { description: "Left out, all effects are tolerated." })),
    toleration_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, examples: [300] })),
  },
  {
    ...strict,
    title: "Toleration",
    allOf: [
      where(holds("operator", ["Exists"]), "With Exists no value is compared", { refuses: ["value"] }),
      where(given("toleration_seconds"), "Only the effect NoExecute ends after some time", {
        requires: ["effect"],
        fields: { effect: { enum: ["NoExecute"] } },
      }),
    ],
    examples: [{ key: "dedicated", value: "batch", effect: "NoSchedule" }],
  },
);
export const Tolerations = Type.Array(Toleration, {
  maxItems: 50,
  description: "Taints of nodes on which it may run nevertheless, each by its key.",
});

const VALUED = ["In", "NotIn", "Gt", "Lt"] as const;
const requirementFields = {
  key: LabelKey("node.kubernetes.io/instance-type"),
  operator: Type.Enum([...VALUED, "Exists", "DoesNotExist"]),
  values: Type.Optional(Type.Array(LabelValue, { minItems: 1, maxItems: 100, examples: [["m7g.large"]] })),
};
const requirementRules = [
  where(holds("operator", VALUED), "The operator compares with values", { requires: ["values"] }),
  where(holds("operator", ["Exists", "DoesNotExist"]), "The operator compares with no values", { refuses: ["values"] }),
  where(holds("operator", ["Gt", "Lt"]), "The operator compares with one whole number", {
    fields: { values: { type: "array", maxItems: 1, items: { type: "string", pattern: "^[0-9]{1,18}$" } } },
  }),
];
const requirementOptions = { ...strict, allOf: requirementRules };
const NodeRequirement = Type.Object(requirementFields, { ...requirementOptions, title: "NodeRequirement" });
const Weight = Type.Integer({ minimum: 1, maximum: 100, examples: [50] });
const PreferredNodeRequirement = Type.Object(
  { ...requirementFields, weight: Weight },
  { ...requirementOptions, title: "PreferredNodeRequirement" },
);

const termFields = {
  component: Type.Optional(DnsLabel("cache")),
  topology_key: Type.Optional({ ...LabelKey("topology.kubernetes.io/zone"), default: "kubernetes.io/hostname" }),
};
const PodAffinity = Type.Object(
  {
    required: Type.Optional(Type.Array(Type.Object(termFields, strict), { maxItems: 10 })),
    preferred: Type.Optional(Type.Array(Type.Object({ ...termFields, weight: Weight }, strict), { maxItems: 10 })),
  },
  {
    ...strict,
    title: "PodAffinity",
    description: "A term means the pods of a component of the app; left out, its own.",
  },
);

export const Affinity = Type.Object(
  {
    node_affinity: Type.Optional(
      Type.Object(
        {
          required: Type.Optional(
            Type.Array(NodeRequirement, { maxItems: 20, description: "All of them hold on the node." }),
          ),
          preferred: Type.Optional(Type.Array(PreferredNodeRequirement, { maxItems: 20 })),
        },
        strict,
      ),
    ),
    pod_affinity: Type.Optional(PodAffinity),
    pod_anti_affinity: Type.Optional(PodAffinity),
  },
  {
    ...strict,
    title: "Affinity",
    description: "`pod_affinity` runs it near other pods, `pod_anti_affinity` away from them.",
    examples: [{ pod_anti_affinity: { preferred: [{ weight: 100 }] } }],
  },
);

export const TopologySpread = Type.Array(
  Type.Object(
    {
      topology_key: LabelKey("topology.kubernetes.io/zone"),
      max_skew: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1 })),
      when_unsatisfiable: Type.Optional(Type.Enum(["ScheduleAnyway", "DoNotSchedule"], { default: "ScheduleAnyway" })),
    },
    { ...strict, title: "TopologySpread", examples: [{ topology_key: "topology.kubernetes.io/zone" }] },
  ),
  { maxItems: 10, description: "Spreads the pods of the component over zones, nodes or the like." },
);

export const SecurityContext = Type.Object(
  {
    run_as_user: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, examples: [1000] })),
    run_as_non_root: Type.Optional(Type.Boolean()),
    read_only_root_filesystem: Type.Optional(Type.Boolean()),
  },
  {
    ...strict,
    title: "SecurityContext",
    description:
      "Of all containers of the component, within the Pod Security level of the project. Nothing in it gives more rights.",
    allOf: [
      where(holds("run_as_non_root", [true]), "User 0 is root", {
        fields: { run_as_user: { type: "integer", minimum: 1 } },
      }),
    ],
    examples: [{ run_as_user: 1000, run_as_non_root: true }],
  },
);

/** A grace of 0 would let Kubernetes replace a replica of a StatefulSet while the old one still writes. */
export const TerminationGrace = Type.Integer({
  minimum: 1,
  maximum: 3600,
  description: "How long a pod has between the signal to end and its end by force; 30 where nothing is said.",
  examples: [60],
});

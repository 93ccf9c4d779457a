import { fieldsOf, present, selectorLabels, someOf, type WorkloadContext } from "./component-context.ts";
import type { Workload } from "./rendering.ts";

type Affinity = NonNullable<Workload["affinity"]>;
type NodeAffinity = NonNullable<Affinity["node_affinity"]>;
type Requirement = NonNullable<NodeAffinity["required"]>[number];
type PodPreference = NonNullable<Affinity["pod_affinity"]>;
type Term = NonNullable<PodPreference["required"]>[number];

const EVERY_NODE = "kubernetes.io/hostname";

/** Where the pods of a component may run. What they are near to or away from is always of the same app. */
export function schedulingFields(context: WorkloadContext) {
  const { node_selector = {}, tolerations = [], affinity = {}, topology_spread = [] } = context.spec;
  return present({
    nodeSelector: fieldsOf(node_selector),
    tolerations: someOf(
      tolerations.map(({ key, operator = "Equal", value, effect, toleration_seconds }) =>
        present({ key, operator, value: value || undefined, effect, tolerationSeconds: toleration_seconds }),
      ),
    ),
    affinity: fieldsOf(
      present({
        nodeAffinity: nodeAffinity(affinity.node_affinity),
        podAffinity: podPreference(context, affinity.pod_affinity),
        podAntiAffinity: podPreference(context, affinity.pod_anti_affinity),
      }),
    ),
    topologySpreadConstraints: someOf(
      topology_spread.map(({ topology_key, max_skew = 1, when_unsatisfiable = "ScheduleAnyway" }) => ({
        topologyKey: topology_key,
        maxSkew: max_skew,
        whenUnsatisfiable: when_unsatisfiable,
        labelSelector: { matchLabels: context.selector },
      })),
    ),
  });
}

const expression = ({ key, operator, values }: Requirement) => present({ key, operator, values: someOf(values) });

function nodeAffinity({ required = [], preferred = [] }: NodeAffinity = {}) {
  const matchExpressions = someOf(required.map(expression));
  return fieldsOf(
    present({
      requiredDuringSchedulingIgnoredDuringExecution: matchExpressions && {
        nodeSelectorTerms: [{ matchExpressions }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: someOf(
        preferred.map(({ weight, ...requirement }) => ({
          weight,
          preference: { matchExpressions: [expression(requirement)] },
        })),
      ),
    }),
  );
}

function podPreference(context: WorkloadContext, { required = [], preferred = [] }: PodPreference = {}) {
  const termOf = ({ component = context.component.name, topology_key = EVERY_NODE }: Term) => ({
    topologyKey: topology_key,
    labelSelector: { matchLabels: selectorLabels(context.app, component) },
  });
  return fieldsOf(
    present({
      requiredDuringSchedulingIgnoredDuringExecution: someOf(required.map(termOf)),
      preferredDuringSchedulingIgnoredDuringExecution: someOf(
        preferred.map(({ weight, ...term }) => ({ weight, podAffinityTerm: termOf(term) })),
      ),
    }),
  );
}

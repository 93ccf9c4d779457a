import { LABELS, type LabelRequirement, type Labels, meetsRequirement } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Fields, fieldsIn, listIn, specOf, textIn } from "../kube/object-fields.ts";
import type { ReleaseId } from "./revision.ts";

/** An object of a release that Kubernetes makes pods of, or that is one. */
export interface PodMaker {
  readonly kind: string;
  readonly name: string;
  /** Not set for jobs, whose pods carry the job's name, and for pods. */
  readonly selector: LabelSelector | null;
}

/** How the pods of a release are known. */
export interface ReleasePods {
  /** Its name. */
  readonly release: string;
  readonly makers: readonly PodMaker[];
}

/** Finds the pods of releases. Null where there is no such release, or it is not ours. */
export interface ReleasePodsSource {
  /** As it was when the release was last reconciled. */
  known(id: ReleaseId): ReleasePods | null;
  /** As Helm has it on record now, which is before it makes anything. */
  read(id: ReleaseId): Promise<ReleasePods | null>;
}

/** All pods but those of workloads of apps, whose own labels tell whose they are. */
export const NOT_OF_WORKLOADS = `!${LABELS.app}`;

/** By convention most charts and operators write the name of the release here. */
const INSTANCE_LABEL = "app.kubernetes.io/instance";
/** Kubernetes writes the name of the job here. */
const JOB_LABEL = "job-name";

const WITHOUT_SELECTOR = new Set(["Pod", "Job", "CronJob"]);

/** Also of kinds that are not known, where they have a template and a selector as those of Kubernetes do. */
export function podMakerOf(object: KubeObject): PodMaker[] {
  const { kind } = object;
  const { name } = object.metadata;
  if (WITHOUT_SELECTOR.has(kind)) return [{ kind, name, selector: null }];
  const { selector: written, template } = specOf(object);
  const selector = Object.keys(fieldsIn(template)).length > 0 ? selectorIn(written) : null;
  return selector ? [{ kind, name, selector }] : [];
}

type Pod = Pick<KubeObject, "metadata">;

/**
 * Uses the manifest: pods of its workloads and jobs, and its own pods. Pods of other kinds, such as a database that
 * another operator runs, are recognized by the conventional label alone.
 */
export function isPodOf({ release, makers }: ReleasePods, pod: Pod): boolean {
  return makers.some((maker) => isMadeBy(maker, pod)) || pod.metadata.labels?.[INSTANCE_LABEL] === release;
}

/** Those of workloads of apps carry labels of their own. */
export const podsOfRelease = (known: ReleasePods, pods: readonly KubeObject[]): KubeObject[] =>
  pods.filter((pod) => pod.metadata.labels?.[LABELS.app] === undefined && isPodOf(known, pod));

/** The pods that one workload of a release has made. */
export const podsMadeBy = (
  { makers }: Pick<ReleasePods, "makers">,
  { kind, name }: Pick<PodMaker, "kind" | "name">,
  pods: readonly KubeObject[],
): KubeObject[] => {
  const maker = makers.find((one) => one.kind === kind && one.name === name);
  return maker ? pods.filter((pod) => isMadeBy(maker, pod)) : [];
};

/** Kubernetes cuts a name to this length before it appends five characters. */
const LONGEST_BEGINNING = 58;

/** Two releases of one chart may have the same selector, but not the same names. */
function isMadeBy({ kind, name, selector }: PodMaker, { metadata }: Pod): boolean {
  const { name: pod, labels = {} } = metadata;
  const job = labels[JOB_LABEL] ?? "";
  if (kind === "Pod") return pod === name;
  if (kind === "Job") return job === name;
  if (kind === "CronJob") return job.startsWith(`${name}-`) && /^\d+$/.test(job.slice(name.length + 1));
  return selector !== null && isSelected(labels, selector) && pod.startsWith(`${name}-`.slice(0, LONGEST_BEGINNING));
}

/** By what labels a workload finds its pods. */
export type LabelSelector = readonly LabelRequirement[];

/** Null where it names nothing: Kubernetes takes no workload that would have every pod. */
export function selectorIn(selector: unknown): LabelSelector | null {
  const { matchLabels, matchExpressions } = fieldsIn(selector);
  const requirements = [
    ...Object.entries(fieldsIn(matchLabels)).map(([key, value]) => ({ key, operator: "In", values: [String(value)] })),
    ...listIn(matchExpressions).map(requirementIn),
  ];
  return requirements.length > 0 ? requirements : null;
}

const requirementIn = ({ key, operator, values }: Fields): LabelRequirement => ({
  key: textIn(key),
  operator: textIn(operator),
  values: Array.isArray(values) ? values.map(String) : [],
});

export const isSelected = (labels: Labels, selector: LabelSelector): boolean =>
  selector.every((requirement) => meetsRequirement(labels, requirement));

import { type FieldProblem, forbiddenField, invalidValue } from "../fault.ts";
import { isSame, type JsonRecord, omitting } from "../fields/typed-value.ts";
import { at, recordAt, recordsAt, textAt } from "./metadata.ts";

type Rule = (live: JsonRecord, next: JsonRecord) => FieldProblem[];

/** Fields that stay as they were created. */
const immutable =
  (...paths: readonly string[]): Rule =>
  (live, next) =>
    paths.flatMap((path) => {
      const [before, after] = [at(live, ...path.split(".")), at(next, ...path.split("."))];
      return isSame(before, after) ? [] : [invalidValue(path, after ?? null, "field is immutable")];
    });

const RULES: Readonly<Record<string, Rule>> = {
  "deployments.apps": immutable("spec.selector"),
  "replicasets.apps": immutable("spec.selector"),
  "daemonsets.apps": immutable("spec.selector"),
  "statefulsets.apps": statefulSet,
  "jobs.batch": job,
  persistentvolumeclaims: claim,
  services: service,
  secrets: (live, next) => [...immutable("type")(live, next), ...sealed(live, next)],
  configmaps: sealed,
  pods: pod,
  "rolebindings.rbac.authorization.k8s.io": roleRef,
  "clusterrolebindings.rbac.authorization.k8s.io": roleRef,
  "storageclasses.storage.k8s.io": immutable("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
  "customresourcedefinitions.apiextensions.k8s.io": immutable("spec.group", "spec.scope", "spec.names.kind"),
};

/** Changes that an update of such an object must not make. */
export const changeProblems = (resource: string, live: JsonRecord, next: JsonRecord): FieldProblem[] =>
  RULES[resource]?.(live, next) ?? [];

const OF_STATEFUL_SETS = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

const FIXED_OF_STATEFUL_SETS = ["serviceName", "podManagementPolicy", "selector", "volumeClaimTemplates"];

function statefulSet(live: JsonRecord, next: JsonRecord): FieldProblem[] {
  const named = immutable(...FIXED_OF_STATEFUL_SETS.map((name) => `spec.${name}`))(live, next);
  const rest = (object: JsonRecord) => {
    const names = [...OF_STATEFUL_SETS, ...FIXED_OF_STATEFUL_SETS];
    return Object.fromEntries(Object.entries(recordAt(object, "spec")).filter(([name]) => !names.includes(name)));
  };
  if (isSame(rest(live), rest(next))) return named;
  const list = OF_STATEFUL_SETS.map((name) => `'${name}'`);
  const last = list.pop();
  return [
    ...named,
    forbiddenField(
      "spec",
      `updates to statefulset spec for fields other than ${list.join(", ")} and ${last} are forbidden`,
    ),
  ];
}

function job(live: JsonRecord, next: JsonRecord): FieldProblem[] {
  const isSuspended = at(live, "spec", "suspend") === true && at(live, "status", "startTime") === undefined;
  const template = immutable("spec.template.spec")(live, next);
  const isPlacement = isSuspended && isSame(placeless(live), placeless(next));
  return [
    ...immutable("spec.completions", "spec.selector")(live, next),
    ...(isPlacement ? [] : template),
    ...immutable("spec.completionMode")(live, next),
  ];
}

/** Where pods of a job that has not begun go may still be changed. */
const placeless = (object: JsonRecord): JsonRecord =>
  omitting(recordAt(object, "spec", "template", "spec"), "affinity", "nodeSelector", "tolerations", "schedulingGates");

function claim(live: JsonRecord, next: JsonRecord): FieldProblem[] {
  const fixed = (object: JsonRecord): JsonRecord =>
    omitting(recordAt(object, "spec"), "resources", "volumeAttributesClassName");
  const [before, after] = [fixed(live), fixed(next)];
  const isBinding = before["volumeName"] === undefined && after["volumeName"] !== undefined;
  const isSameElse = isSame({ ...before, volumeName: null }, { ...after, volumeName: null });
  if (isSame(before, after) || (isBinding && isSameElse)) return [];
  const why =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [forbiddenField("spec", why)];
}

function service(live: JsonRecord, next: JsonRecord): FieldProblem[] {
  const [before, after] = [textAt(live, "spec", "clusterIP"), textAt(next, "spec", "clusterIP")];
  const isExternal = textAt(live, "spec", "type") === "ExternalName" || textAt(next, "spec", "type") === "ExternalName";
  if (before === after || before === "" || isExternal) return [];
  return [invalidValue("spec.clusterIPs[0]", [after], "may not change once set")];
}

function sealed(live: JsonRecord, next: JsonRecord): FieldProblem[] {
  if (live["immutable"] !== true) return [];
  const why = "field is immutable when `immutable` is set";
  return ["immutable", "data", "binaryData", "stringData"]
    .filter((field) => !isSame(live[field], next[field]))
    .map((field) => forbiddenField(field, why));
}

const OF_PODS = [
  "activeDeadlineSeconds",
  "tolerations",
  "terminationGracePeriodSeconds",
  "schedulingGates",
  "nodeName",
];

function pod(live: JsonRecord, next: JsonRecord): FieldProblem[] {
  const imageless = (object: JsonRecord, list: string) =>
    recordsAt(object, "spec", list).map((container) => omitting(container, "image"));
  const fixed = (object: JsonRecord): JsonRecord => ({
    ...omitting(recordAt(object, "spec"), ...OF_PODS),
    containers: imageless(object, "containers"),
    initContainers: imageless(object, "initContainers"),
  });
  if (isSame(fixed(live), fixed(next))) return [];
  const why =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
  return [forbiddenField("spec", why)];
}

function roleRef(live: JsonRecord, next: JsonRecord): FieldProblem[] {
  if (isSame(live["roleRef"], next["roleRef"])) return [];
  return [invalidValue("roleRef", next["roleRef"], "cannot change roleRef")];
}

import { type FieldProblem, invalidValue, notSupported, required } from "../fault.ts";
import { isSame, type JsonRecord } from "../fields/typed-value.ts";
import { at, recordAt, recordsAt, textAt } from "./metadata.ts";
import { podSpecProblems } from "./pod-spec.ts";

/** Of kinds that keep as many pods as somebody asks for. */
export function workloadProblems(object: JsonRecord): FieldProblem[] {
  const spec = recordAt(object, "spec");
  const replicas = at(spec, "replicas");
  const labels = at(spec, "template", "metadata", "labels");
  const selector = at(spec, "selector");
  const isEmptySelector = isSame(selector, {});
  const claims = recordsAt(spec, "volumeClaimTemplates").map((claim) => textAt(claim, "metadata", "name"));
  return [
    ...(typeof replicas === "number" && replicas < 0
      ? [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")]
      : []),
    ...(selector === undefined ? [required("spec.selector")] : []),
    ...(isEmptySelector ? [invalidValue("spec.selector", selector, "empty selector is invalid for deployment")] : []),
    ...(selectorMatches(recordAt(spec, "selector"), recordAt(labels))
      ? []
      : [invalidValue("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`")]),
    ...podSpecProblems(recordAt(spec, "template", "spec"), "spec.template.spec", claims),
    ...alwaysProblems(textAt(spec, "template", "spec", "restartPolicy")),
  ];
}

const alwaysProblems = (policy: string): FieldProblem[] =>
  policy === "Always" ? [] : [notSupported("spec.template.spec.restartPolicy", policy, ["Always"])];

/** Whether labels are of those that a selector of an object asks for. */
function selectorMatches(selector: JsonRecord, labels: JsonRecord): boolean {
  const wanted = recordAt(selector, "matchLabels");
  const expressions = at(selector, "matchExpressions");
  if (Object.keys(wanted).length === 0 && !Array.isArray(expressions)) return false;
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

export function jobSpecProblems(spec: JsonRecord, field: string): FieldProblem[] {
  const policy = textAt(spec, "template", "spec", "restartPolicy");
  const isGiven = policy === "OnFailure" || policy === "Never";
  const restart = `${field}.template.spec.restartPolicy`;
  return [
    ...podSpecProblems(recordAt(spec, "template", "spec"), `${field}.template.spec`),
    ...(isGiven ? [] : [required(restart, 'valid values: "OnFailure", "Never"')]),
  ];
}

export function cronJobProblems(object: JsonRecord): FieldProblem[] {
  const schedule = textAt(object, "spec", "schedule");
  return [
    ...scheduleProblems(schedule),
    ...jobSpecProblems(recordAt(object, "spec", "jobTemplate", "spec"), "spec.jobTemplate.spec"),
  ];
}

function scheduleProblems(schedule: string): FieldProblem[] {
  if (schedule === "") return [required("spec.schedule")];
  if (schedule.startsWith("@")) return [];
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) {
    const why = `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
    return [invalidValue("spec.schedule", schedule, why)];
  }
  const bad = fields.find((text) => !/^[-\d*,/?A-Za-z]+$/.test(text));
  return bad === undefined ? [] : [invalidValue("spec.schedule", schedule, `failed to parse int from ${bad}`)];
}

const SCALABLE_PATH = "spec.scaleTargetRef";

export function autoscalerProblems(object: JsonRecord): FieldProblem[] {
  const spec = recordAt(object, "spec");
  const [least, most] = [at(spec, "minReplicas"), at(spec, "maxReplicas")];
  const problems: FieldProblem[] = [];
  if (typeof least === "number" && least < 1)
    problems.push(invalidValue("spec.minReplicas", least, "must be greater than or equal to 1"));
  if (typeof most !== "number" || most < 1)
    problems.push(invalidValue("spec.maxReplicas", most ?? 0, "must be greater than 0"));
  else if (typeof least === "number" && most < least) {
    problems.push(invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"));
  }
  for (const name of ["kind", "name"]) {
    if (textAt(spec, "scaleTargetRef", name) === "") problems.push(required(`${SCALABLE_PATH}.${name}`));
  }
  if (textAt(spec, "scaleTargetRef", "apiVersion") === "") {
    problems.push(invalidValue(`${SCALABLE_PATH}.apiVersion`, "", "apiVersion must specify API group"));
  }
  return problems;
}

import { duplicate, type FieldProblem, invalidValue, notSupported, required } from "../fault.ts";
import type { JsonRecord } from "../fields/typed-value.ts";
import { at, labelProblem, recordAt, recordsAt, textAt } from "./metadata.ts";

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];
const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc"];

/** `claims` are volumes that come from elsewhere than the spec. */
export function podSpecProblems(spec: JsonRecord, field: string, claims: readonly string[] = []): FieldProblem[] {
  const volumes = recordsAt(spec, "volumes");
  const names = new Set([...volumes.map((volume) => textAt(volume, "name")), ...claims]);
  const containers = recordsAt(spec, "containers");
  return [
    ...volumes.flatMap((volume, index) => volumeProblems(volume, `${field}.volumes[${index}]`)),
    ...duplicates(volumes, `${field}.volumes`),
    ...(containers.length === 0 ? [required(`${field}.containers`)] : []),
    ...containers.flatMap((container, index) => containerProblems(container, `${field}.containers[${index}]`, names)),
    ...duplicates(containers, `${field}.containers`),
    ...recordsAt(spec, "initContainers").flatMap((container, index) =>
      containerProblems(container, `${field}.initContainers[${index}]`, names),
    ),
  ];
}

function volumeProblems(volume: JsonRecord, field: string): FieldProblem[] {
  const claim = at(volume, "persistentVolumeClaim");
  return [
    ...nameProblems(textAt(volume, "name"), `${field}.name`),
    ...(claim !== undefined && textAt(claim, "claimName") === ""
      ? [required(`${field}.persistentVolumeClaim.claimName`)]
      : []),
  ];
}

function duplicates(list: readonly JsonRecord[], field: string): FieldProblem[] {
  const names = list.map((one) => textAt(one, "name"));
  return names.flatMap((name, index) =>
    name !== "" && names.indexOf(name) < index ? [duplicate(`${field}[${index}].name`, name)] : [],
  );
}

function nameProblems(name: string, field: string): FieldProblem[] {
  if (name === "") return [required(field)];
  const problem = labelProblem(name);
  return problem ? [invalidValue(field, name, problem)] : [];
}

function containerProblems(container: JsonRecord, field: string, volumes: ReadonlySet<string>): FieldProblem[] {
  const policy = textAt(container, "imagePullPolicy");
  return [
    ...nameProblems(textAt(container, "name"), `${field}.name`),
    ...(textAt(container, "image") === "" ? [required(`${field}.image`)] : []),
    ...recordsAt(container, "ports").flatMap((port, index) => portProblems(port, `${field}.ports[${index}]`)),
    ...recordsAt(container, "env").flatMap((variable, index) =>
      envProblems(textAt(variable, "name"), `${field}.env[${index}].name`),
    ),
    ...recordsAt(container, "volumeMounts").flatMap((mount, index) =>
      mountProblems(mount, `${field}.volumeMounts[${index}]`, volumes),
    ),
    ...(PULL_POLICIES.includes(policy) ? [] : [notSupported(`${field}.imagePullPolicy`, policy, PULL_POLICIES)]),
    ...PROBES.filter((name) => at(container, name) !== undefined).flatMap((name) =>
      probeProblems(recordAt(container, name), `${field}.${name}`),
    ),
  ];
}

function portProblems(port: JsonRecord, field: string): FieldProblem[] {
  const name = textAt(port, "name");
  const number = at(port, "containerPort");
  const problems: FieldProblem[] = [];
  if (name.length > 15) problems.push(invalidValue(`${field}.name`, name, "must be no more than 15 characters"));
  if (name !== "" && !/^[-a-z0-9]+$/.test(name)) {
    problems.push(
      invalidValue(`${field}.name`, name, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
    );
  }
  if (!number) problems.push(required(`${field}.containerPort`));
  else if (!isPort(number))
    problems.push(invalidValue(`${field}.containerPort`, number, "must be between 1 and 65535, inclusive"));
  return problems;
}

export const isPort = (value: unknown): boolean => typeof value === "number" && value >= 1 && value <= 65_535;

function envProblems(name: string, field: string): FieldProblem[] {
  if (name === "") return [required(field)];
  if (/^[\x20-\x3c\x3e-\x7e]+$/.test(name)) return [];
  const why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return [invalidValue(field, name, why)];
}

function mountProblems(mount: JsonRecord, field: string, volumes: ReadonlySet<string>): FieldProblem[] {
  const name = textAt(mount, "name");
  return [
    ...(name === "" ? [required(`${field}.name`)] : []),
    ...(name !== "" && !volumes.has(name)
      ? [
          {
            reason: "FieldValueNotFound",
            field: `${field}.name`,
            message: `Not found: ${JSON.stringify(name)}`,
          } as const,
        ]
      : []),
    ...(textAt(mount, "mountPath") === "" ? [required(`${field}.mountPath`)] : []),
  ];
}

function probeProblems(probe: JsonRecord, field: string): FieldProblem[] {
  return HANDLERS.some((name) => at(probe, name) !== undefined) ? [] : [required(field, "must specify a handler type")];
}

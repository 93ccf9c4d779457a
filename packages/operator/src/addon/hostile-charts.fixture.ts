import type { ChartContent } from "../helm/chart.fixture.ts";

const MARK = "{{ .Release.Name }}-mark";
const harmless = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${MARK}}\ndata: {color: {{ .Values.color | default "red" | quote }}}\n`;
const clusterRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "{{ .Release.Namespace }}-reader"}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get, list]}]
`;
const hook = (more: string) =>
  `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-hook
  ${more}
  annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: "tiny:1"}]}
`;
const definition = (plural: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.hostile.example.com}
spec:
  group: hostile.example.com
  names: {kind: Thing, plural: ${plural}}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;

/** The role of an app that asks for rights which its chart's author wants to have. */
const roleOf = (rules: string, binding: string) => `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "{{ .Release.Name }}"}
rules: ${rules}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: "{{ .Release.Name }}"}
roleRef: {apiGroup: rbac.authorization.k8s.io, ${binding}}
subjects: [{kind: ServiceAccount, name: default}]
`;

const ingress = (host: string, annotation = "") => `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .Release.Name }}
  annotations: {${annotation}}
spec:
  rules:
    - host: ${host}
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`;

const chart = (text: string): ChartContent => ({ "values.yaml": "color: red\n", "templates/all.yaml": text });

/** Charts that reach beyond the namespace of their project, `victim` being that of another. */
export const HOSTILE: Readonly<Record<string, ChartContent>> = {
  thief: chart(
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${MARK}}\ndata: {loot: {{ (lookup "v1" "Secret" .Values.victim "crown").data | toJson | quote }}}\n`,
  ),
  spy: chart(
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${MARK}}\ndata: {loot: {{ (lookup "v1" "Secret" "" "") | toJson | quote }}}\n`,
  ),
  intruder: chart(
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: planted, namespace: {{ .Values.victim }}}\ndata: {a: b}\n`,
  ),
  lister: chart(`apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Release.Name }}-mark}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: planted, namespace: {{ .Values.victim }}}}
`),
  rootkit: chart(`apiVersion: apps/v1
kind: DaemonSet
metadata: {name: "{{ .Release.Namespace }}-rootkit", namespace: kube-system}
spec:
  selector: {matchLabels: {rootkit: "yes"}}
  template:
    metadata: {labels: {rootkit: "yes"}}
    spec:
      hostPID: true
      containers: [{name: main, image: "tiny:1", securityContext: {privileged: true}}]
`),
  hijacker: chart(`${harmless}---\n${ingress("{{ .Values.host | quote }}")}`),
  /** Kubernetes takes the second kind. */
  twofold: chart(`${harmless}---
kind: ConfigMap
${ingress("{{ .Values.host }}")}`),
  tagged: chart(`${harmless}---\n${ingress("!x {{ .Values.host }}")}`),
  alias: chart(`${harmless}---
${ingress("mine.example.com", "nginx.ingress.kubernetes.io/server-alias: {{ .Values.host | quote }}")}`),
  /** The API server refuses its last object only when the first one is there. */
  halfway: chart(`${harmless}---\n${roleOf("[]", "kind: ClusterRole, name: cluster-admin")}`),
  master: chart(`${harmless}---\n${clusterRole}`),
  founder: chart(`apiVersion: v1\nkind: Namespace\nmetadata: {name: "{{ .Release.Namespace }}-second"}\n`),
  definer: { "templates/all.yaml": harmless, "crds/things.yaml": definition("things") },
  hooker: chart(`${harmless}---\n${hook("namespace: {{ .Values.victim }}")}`),
  /** Shows its true face only with its second revision, which Helm does not tell while it renders. */
  sleeper: chart(`${harmless}{{ if gt .Release.Revision 1 }}---\n${clusterRole}{{ end }}`),
  climber: chart(
    roleOf(`[{apiGroups: [""], resources: [nodes], verbs: [get]}]`, `kind: Role, name: "{{ .Release.Name }}"`),
  ),
  heir: chart(roleOf("[]", "kind: ClusterRole, name: cluster-admin")),
};

{{- define "operator.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "operator.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "operator.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end }}{{ .Values.image.repository -}}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
{{- define "operator.serviceAccount" -}}
{{ .Values.serviceAccount.name | default .Release.Name }}
{{- end }}
{{- define "operator.tokenSecret" -}}
{{ .Values.cluster.existingSecret | default (printf "%s-token" .Release.Name) }}
{{- end }}
{{- /* Objects of the whole cluster: releases of the same name in several namespaces must not take each other's. */ -}}
{{- define "operator.clusterName" -}}
{{ printf "%s:%s" .Release.Namespace .Release.Name }}
{{- end }}
{{- define "operator.chartsRole" -}}
{{ include "operator.clusterName" . }}:charts
{{- end }}
{{- define "operator.projectsRole" -}}
{{ include "operator.clusterName" . }}:projects
{{- end }}
{{- /* An upgrade that reuses the values of an earlier version has none. */ -}}
{{- define "operator.replicas" -}}
{{ .Values.replicas | default 1 }}
{{- end }}
{{- /* The operator's code names these six too. */ -}}
{{- define "operator.leaseNamespace" -}}
default
{{- end }}
{{- define "operator.lease" -}}
{{ printf "binnacle-operator-%s" .Values.cluster.id }}
{{- end }}
{{- define "operator.projectsBinding" -}}
binnacle-operator
{{- end }}
{{- define "operator.ownSecrets" -}}
{{ list (include "operator.tokenSecret" .) "binnacle-chart-repositories" | toJson }}
{{- end }}
{{- define "operator.ownConfigMaps" -}}
["binnacle-operator-memory"]
{{- end }}
{{- define "operator.chartsAccount" -}}
binnacle-charts
{{- end }}
{{- define "operator.clusterChartsAccount" -}}
binnacle-cluster-charts
{{- end }}
{{- define "operator.user" -}}
{{ printf "system:serviceaccount:%s:%s" .Release.Namespace (include "operator.serviceAccount" .) }}
{{- end }}
{{- /* Names of admission policies take no colon. */ -}}
{{- define "operator.policyName" -}}
{{ printf "%s.%s" .Release.Namespace .Release.Name }}
{{- end }}
{{- /* Kubernetes 1.30 and later has them. */ -}}
{{- define "operator.hasAdmissionPolicies" -}}
{{ if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" }}yes{{ end }}
{{- end }}
{{- /* What the operator labels its namespaces and custom resources with. */ -}}
{{- define "operator.ownLabels" -}}
app.kubernetes.io/managed-by: binnacle
binnacle.dev/cluster: {{ .Values.cluster.id }}
{{- end }}
{{- /* Whether an object has these labels, in CEL. */ -}}
{{- define "operator.isOwn" -}}
(has({{ .object }}.metadata.labels)
{{- range $name, $value := fromYaml (include "operator.ownLabels" .root) }} && {{ $.object }}.metadata.labels[?{{ $name | quote }}].orValue("") == {{ $value | quote }}{{ end }})
{{- end }}
{{- /* The highest level first. An upgrade that reuses the values of an earlier version has none. */ -}}
{{- define "operator.podSecurityLimit" -}}
{{ dig "podSecurity" "baseline" (.Values.limits | default dict) }}
{{- end }}
{{- define "operator.podSecurityLevels" -}}
{{ dict "privileged" (list "privileged" "baseline" "restricted") "baseline" (list "baseline" "restricted") "restricted" (list "restricted") | dig (include "operator.podSecurityLimit" .) (list) | toJson }}
{{- end }}
{{- /* Annotations by which an ingress controller answers for hosts that no rule names. The operator's code names them too. */ -}}
{{- define "operator.hostAnnotations" -}}
/server-alias(-regex)?$|-snippets?$|/redirect-from(-regex)?$|/config-(backend|frontend|global|defaults|proxy|tcp)$|^konghq\.com/host-aliases$|^appgw\.ingress\.kubernetes\.io/hostname-extension$|^alb\.ingress\.kubernetes\.io/conditions\.|^zalando\.org/skipper-(routes|predicate)$|^getambassador\.io/config$|^traefik\.ingress\.kubernetes\.io/(rule-type|router\.priority)$
{{- end }}

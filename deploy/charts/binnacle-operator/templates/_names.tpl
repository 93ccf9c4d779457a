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
{{- /* The operator's code names it too. */ -}}
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
{{- /* Annotations by which an ingress controller answers for hosts that no rule names. The operator's code names them too. */ -}}
{{- define "operator.hostAnnotations" -}}
/server-alias(-regex)?$|-snippets?$|/redirect-from(-regex)?$|/config-(backend|frontend|global|defaults|proxy|tcp)$|^konghq\.com/host-aliases$|^appgw\.ingress\.kubernetes\.io/hostname-extension$|^alb\.ingress\.kubernetes\.io/conditions\.|^zalando\.org/skipper-(routes|predicate)$|^getambassador\.io/config$|^traefik\.ingress\.kubernetes\.io/rule-type$
{{- end }}

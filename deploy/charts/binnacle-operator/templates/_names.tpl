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

{{- define "binnacle.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- define "binnacle.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "binnacle.labels" -}}
{{ include "binnacle.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- /* The image of `repository` and `digest`, in the registry and the version of the release. */ -}}
{{- define "binnacle.imageOf" -}}
{{- with .root.Values.image.registry }}{{ . }}/{{ end }}{{ .repository -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}
{{- define "binnacle.image" -}}
{{ include "binnacle.imageOf" (dict "root" . "repository" .Values.image.repository "digest" .Values.image.digest) }}
{{- end }}
{{- /* Not empty where the API runs from the image that has the images of the release in it. */ -}}
{{- define "binnacle.carriesImages" -}}
{{- if and .Values.images.repository (not .Values.images.existingClaim) (not .Values.imageRegistry) }}
{{- if and .Values.image.digest (not .Values.images.digest) }}
{{- fail "image.digest is set and images.digest is not: the API would run from another version. Set images.digest too, or imageRegistry, or images.repository to \"\"." }}
{{- end }}true
{{- end }}
{{- end }}
{{- define "binnacle.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "binnacle.name" .) }}
{{- end }}
{{- define "binnacle.host" -}}
{{ (urlParse .Values.publicUrl).hostname }}
{{- end }}
{{- /* The Deployments of the release: their names, roles, ports and values. */ -}}
{{- define "binnacle.components" -}}
{{- if eq .Values.mode "single" }}
- { name: single, suffix: "", roles: "api,hub,worker", port: 8080 }
{{- else }}
- { name: api, suffix: "-api", roles: api, port: 8080 }
- { name: hub, suffix: "-hub", roles: hub, port: 8081 }
- { name: worker, suffix: "-worker", roles: worker, port: 8080 }
{{- end }}
{{- end }}
{{- /* Secrets of the release that hold what was given as a value or generated. */ -}}
{{- define "binnacle.keysSecret" -}}
{{ .Values.keys.existingSecret | default (printf "%s-keys" (include "binnacle.name" .)) }}
{{- end }}
{{- define "binnacle.adminSecret" -}}
{{ .Values.admin.existingSecret | default (printf "%s-admin" (include "binnacle.name" .)) }}
{{- end }}
{{- define "binnacle.databaseSecret" -}}
{{ .Values.database.existingSecret | default (printf "%s-database" (include "binnacle.name" .)) }}
{{- end }}
{{- define "binnacle.redisSecret" -}}
{{ .Values.redis.existingSecret | default (printf "%s-redis" (include "binnacle.name" .)) }}
{{- end }}
{{- define "binnacle.env" -}}
- { name: BINNACLE_ENVIRONMENT, value: production }
- { name: BINNACLE_HOST, value: 0.0.0.0 }
- { name: BINNACLE_PUBLIC_URL, value: {{ .Values.publicUrl | quote }} }
- { name: BINNACLE_LOG_LEVEL, value: {{ .Values.logLevel }} }
- { name: BINNACLE_DATA_DIR, value: /var/lib/binnacle }
# Proxies send requests for a moment after a pod has begun to stop.
- { name: BINNACLE_DRAIN_DELAY_MS, value: "5000" }
- { name: BINNACLE_DATABASE_POOL_SIZE, value: {{ .Values.database.poolSize | quote }} }
- { name: BINNACLE_ADMIN_EMAIL, value: {{ .Values.admin.email | quote }} }
{{- with .Values.trustedProxies }}
- { name: BINNACLE_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- with .Values.imageRegistry }}
- { name: BINNACLE_IMAGE_REGISTRY, value: {{ . | quote }} }
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: { name: {{ include "binnacle.databaseSecret" . }}, key: {{ if .Values.database.existingSecret }}{{ .Values.database.secretKey }}{{ else }}uri{{ end }} }
{{- if or .Values.redis.url .Values.redis.existingSecret }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef: { name: {{ include "binnacle.redisSecret" . }}, key: {{ if .Values.redis.existingSecret }}{{ .Values.redis.secretKey }}{{ else }}url{{ end }} }
{{- end }}
{{- range $name := list "BINNACLE_SECRET_KEY" "BINNACLE_VAULT_KEYS" }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ include "binnacle.keysSecret" $ }}, key: {{ $name }} }
{{- end }}
- name: BINNACLE_ADMIN_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ include "binnacle.adminSecret" . }}, key: {{ if .Values.admin.existingSecret }}{{ .Values.admin.secretKey }}{{ else }}password{{ end }} }
{{- end }}

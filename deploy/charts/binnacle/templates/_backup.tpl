{{- /* The pod that writes or reads backups: `name`, and `args` as a list. `s3` is not empty where it needs the key of the storage. */ -}}
{{- define "binnacle.backupPod" -}}
{{- $values := .root.Values -}}
metadata:
  labels:
    {{- include "binnacle.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ include "binnacle.serviceAccount" .root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .name }}
      image: {{ include "binnacle.image" .root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        {{- include "binnacle.env" .root | nindent 8 }}
        {{- if .s3 }}
        {{- $s3 := $values.backup.s3 }}
        - { name: AWS_REGION, value: {{ $s3.region | quote }} }
        {{- with $s3.endpoint }}
        - { name: AWS_ENDPOINT_URL_S3, value: {{ . | quote }} }
        {{- end }}
        {{- range $name := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
        - name: {{ $name }}
          valueFrom:
            secretKeyRef: { name: {{ $s3.existingSecret }}, key: {{ $name }} }
        {{- end }}
        {{- end }}
        {{- with $values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        privileged: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: ["ALL"]
      resources:
        {{- toYaml $values.backup.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if $values.backup.existingClaim }}
        - { name: backups, mountPath: /backups }
        {{- end }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- with $values.backup.existingClaim }}
    - name: backups
      persistentVolumeClaim: { claimName: {{ . }} }
    {{- end }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

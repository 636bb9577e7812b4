{{- define "hedgerow.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "hedgerow.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "hedgerow.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "hedgerow.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "hedgerow.selectorLabels" -}}
app.kubernetes.io/name: {{ include "hedgerow.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "hedgerow.agentSelectorLabels" -}}
app.kubernetes.io/name: {{ include "hedgerow.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: agent
{{- end }}

{{- define "hedgerow.labels" -}}
{{ include "hedgerow.selectorLabels" . }}
{{ include "hedgerow.commonLabels" . }}
{{- end }}

{{- define "hedgerow.agentLabels" -}}
{{ include "hedgerow.agentSelectorLabels" . }}
{{ include "hedgerow.commonLabels" . }}
{{- end }}

{{- define "hedgerow.commonLabels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: hedgerow
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "hedgerow.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "hedgerow.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "hedgerow.agentName" -}}
{{- printf "%s-agent" (include "hedgerow.fullname" .) }}
{{- end }}

{{- define "hedgerow.agentServiceAccountName" -}}
{{- if .Values.agent.serviceAccount.create }}
{{- default (include "hedgerow.agentName" .) .Values.agent.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.agent.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "hedgerow.gatewayName" -}}
{{- printf "%s-gateway" (include "hedgerow.fullname" .) }}
{{- end }}

{{- define "hedgerow.gatewaySelectorLabels" -}}
app.kubernetes.io/name: {{ include "hedgerow.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "hedgerow.gatewayLabels" -}}
{{ include "hedgerow.gatewaySelectorLabels" . }}
{{ include "hedgerow.commonLabels" . }}
{{- end }}

{{- define "hedgerow.gatewayServiceAccountName" -}}
{{- if .Values.gateway.serviceAccount.create }}
{{- default (include "hedgerow.gatewayName" .) .Values.gateway.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.gateway.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "hedgerow.gatewayURL" -}}
{{- $port := ternary "" (printf ":%v" .Values.gateway.service.port) (eq (int .Values.gateway.service.port) 80) }}
{{- default (printf "http://%s.%s.svc%s" (include "hedgerow.gatewayName" .) .Release.Namespace $port) .Values.gateway.url }}
{{- end }}

{{- define "hedgerow.gatewayReplicas" -}}
{{- $addresses := list }}
{{- range $number := until (int .Values.gateway.replicas) }}
{{- $name := include "hedgerow.gatewayName" $ }}
{{- $addresses = append $addresses (printf "http://%s-%d.%s-replicas.%s.svc:8080" $name $number $name $.Release.Namespace) }}
{{- end }}
{{- join "," $addresses }}
{{- end }}

{{- define "hedgerow.agentImage" -}}
{{- $repository := default (printf "%s-agent" (trimSuffix "-operator" .Values.image.repository)) .Values.agent.image.repository }}
{{- printf "%s:%s" $repository (default (default .Chart.AppVersion .Values.image.tag) .Values.agent.image.tag) }}
{{- end }}

{{- define "hedgerow.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "hedgerow.reportURL" -}}
{{- default (printf "http://%s.%s.svc:%v" (include "hedgerow.fullname" .) .Release.Namespace .Values.service.port) .Values.reportURL }}
{{- end }}

{{- define "hedgerow.subject" -}}
- kind: ServiceAccount
  name: {{ include "hedgerow.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "binnacle.name" -}}
{{- if contains "binnacle" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-binnacle" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "binnacle.agents" -}}
{{ default (printf "%s-agents" .Release.Namespace) .Values.agent.namespace.name }}
{{- end }}

{{/* grace: seconds an aggregator may take to end: it serves on for `drain`, running requests get as long again, and some. */}}
{{- define "binnacle.grace" -}}
{{- $drain := 0 -}}
{{- range regexFindAll "[0-9]+(ms|s|m)" (default "5s" .Values.aggregator.settings.drain | toString) -1 -}}
{{- $n := regexFind "^[0-9]+" . | int -}}
{{- $drain = add $drain (hasSuffix "ms" . | ternary 1 (hasSuffix "m" . | ternary (mul 60 $n) $n)) -}}
{{- end -}}
{{ add (mul 2 $drain) 5 }}
{{- end }}

{{/* labels: of every object. Called with (list . "component"). */}}
{{- define "binnacle.labels" -}}
{{- $top := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $top.Chart.Name $top.Chart.Version }}
app.kubernetes.io/version: {{ $top.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $top.Release.Service }}
app.kubernetes.io/part-of: binnacle
{{ include "binnacle.selector" . }}
{{- end }}

{{/* selector: what never changes between versions. */}}
{{- define "binnacle.selector" -}}
{{- $top := index . 0 -}}
app.kubernetes.io/name: binnacle
app.kubernetes.io/instance: {{ $top.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "binnacle.image" -}}
{{- $top := index . 0 -}}
{{- $image := printf "%s/binnacle-%s" $top.Values.image.registry (index . 1) -}}
{{- with index $top.Values.image.digests (index . 1) }}
image: {{ printf "%s@%s" $image . | quote }}
{{- else }}
image: {{ printf "%s:%s" $image (default $top.Chart.AppVersion $top.Values.image.tag) | quote }}
{{- end }}
imagePullPolicy: {{ $top.Values.image.pullPolicy }}
{{- end }}

{{/* imageOf: of others' programs. Called with (list {repository, digest} tag). */}}
{{- define "binnacle.imageOf" -}}
{{- $image := index . 0 -}}
{{- with $image.digest }}{{ printf "%s@%s" $image.repository . | quote }}{{ else }}{{ printf "%s:%s" $image.repository (index . 1) | quote }}{{ end }}
{{- end }}

{{- define "binnacle.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* priorityName: of the class that pods ask for; nothing for none. */}}
{{- define "binnacle.priorityName" -}}
{{- if .Values.priorityClass.name }}{{ .Values.priorityClass.name }}{{ else if .Values.priorityClass.create }}{{ include "binnacle.name" . }}{{ end }}
{{- end }}

{{- define "binnacle.priority" -}}
{{- with include "binnacle.priorityName" . }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* privileged: "true" where a container of the agents' pods is. */}}
{{- define "binnacle.privileged" -}}
{{- if or (eq .Values.agent.mode "privileged") (and .Values.agent.ipmi.enabled (eq .Values.agent.ipmi.access "privileged")) }}true{{ end }}
{{- end }}

{{/* farAgents: "true" where agents dial something that is not the chart's own service: they come from a router's or a node's address then. */}}
{{- define "binnacle.farAgents" -}}
{{- if or .Values.agent.aggregators .Values.openshift.ingestHost (ne .Values.aggregator.ingest.type "ClusterIP") }}true{{ end }}
{{- end }}

{{/* dns: a rule that lets a pod ask for names. */}}
{{- define "binnacle.dns" -}}
- ports:
  {{- range .Values.networkPolicy.dnsPorts }}
  - {port: {{ . }}, protocol: UDP}
  - {port: {{ . }}, protocol: TCP}
  {{- end }}
{{- end }}

{{/* restricted: what pod security "restricted" asks of a container. */}}
{{- define "binnacle.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "binnacle.restrictedPod" -}}
runAsNonRoot: true
{{- /* OpenShift gives each namespace its own range of users, and refuses others. */}}
{{- if not .Values.openshift.enabled }}
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "binnacle.secret.server" -}}
{{- if eq .Values.certificates.mode "existing" }}{{ required "certificates.existing.server: name the secret with the server's certificate" .Values.certificates.existing.server }}{{ else }}{{ include "binnacle.name" . }}-server{{ end }}
{{- end }}
{{- define "binnacle.secret.agent" -}}
{{- if eq .Values.certificates.mode "existing" }}{{ required "certificates.existing.agent: name the secret with the agents' certificate" .Values.certificates.existing.agent }}{{ else }}{{ include "binnacle.name" . }}-agent{{ end }}
{{- end }}
{{- define "binnacle.secret.client" -}}
{{- if eq .Values.certificates.mode "existing" }}{{ required "certificates.existing.client: name the secret with a caller's certificate" .Values.certificates.existing.client }}{{ else }}{{ include "binnacle.name" . }}-client{{ end }}
{{- end }}

{{/* separateCallers: "true" where the scheduler has a client certificate of its own. */}}
{{- define "binnacle.separateCallers" -}}
{{- $c := .Values.certificates }}
{{- if and $c.separateCallers .Values.scheduler.enabled (or (ne $c.mode "existing") $c.existing.scheduler) }}true{{ end }}
{{- end }}
{{- define "binnacle.secret.scheduler" -}}
{{- if not (include "binnacle.separateCallers" .) }}{{ include "binnacle.secret.client" . }}
{{- else if eq .Values.certificates.mode "existing" }}{{ .Values.certificates.existing.scheduler }}
{{- else }}{{ include "binnacle.name" . }}-scheduler-client{{ end }}
{{- end }}

{{/* agentCertificates: "true" where the aggregator takes certificates of agents, too. */}}
{{- define "binnacle.agentCertificates" -}}
{{- if eq .Values.agent.identity "certificate" }}true
{{- else if eq .Values.certificates.mode "generated" }}
{{- include "binnacle.generated" . }}
{{- if index .Values.pki "agents-ca" }}true{{ end }}
{{- end }}
{{- end }}

{{/* agentTrust: the secret in the agents' namespace with the CA of servers. cert-manager gives each secret the CA of its own issuer, which is another. */}}
{{- define "binnacle.agentTrust" -}}
{{- if eq .Values.certificates.mode "certManager" -}}
{{ required "certificates.certManager.agentTrustSecret: name the secret with the CA of servers" .Values.certificates.certManager.agentTrustSecret }}
{{- else -}}
{{ include "binnacle.secret.agent" . }}
{{- end }}
{{- end }}

{{/* serverTrust: the one in the aggregator's namespace. */}}
{{- define "binnacle.serverTrust" -}}
{{- if eq .Values.certificates.mode "certManager" }}{{ include "binnacle.secret.server" . }}{{ else }}{{ include "binnacle.secret.client" . }}{{ end }}
{{- end }}

{{/* serverCA: the CA of servers as PEM, where the chart has it; nothing where only cert-manager does. */}}
{{- define "binnacle.serverCA" -}}
{{- if eq .Values.certificates.mode "generated" }}
{{- include "binnacle.generated" . }}
{{- index .Values.pki "server-ca" }}
{{- else if eq .Values.certificates.mode "existing" }}
{{- .Values.certificates.existing.serverCA }}
{{- end }}
{{- end }}

{{/* callerPki: the volume of who calls the aggregator: as tls.crt the callers' certificate, as scheduler.crt the scheduler's, and the CA of servers;
(list root "tls" or "scheduler" or both). */}}
{{- define "binnacle.callerPki" -}}
{{- $root := index . 0 }}
- name: pki
  projected:
    defaultMode: 0440
    sources:
    {{- range $as := rest . }}
    {{- $secret := include (ternary "binnacle.secret.scheduler" "binnacle.secret.client" (eq $as "scheduler")) $root }}
    - secret: {name: {{ $secret }}, items: [{key: tls.crt, path: {{ $as }}.crt}, {key: tls.key, path: {{ $as }}.key}]}
    {{- end }}
    - secret: {name: {{ include "binnacle.serverTrust" $root }}, items: [{key: ca.crt, path: ca.crt}]}
{{- end }}

{{- define "binnacle.host" -}}
{{ include "binnacle.name" . }}.{{ .Release.Namespace }}.svc
{{- end }}
{{- define "binnacle.ingestHost" -}}
{{ include "binnacle.name" . }}-ingest.{{ .Release.Namespace }}.svc
{{- end }}

{{/* serverNames: what the aggregator's certificate is for, {"names": [...], "addresses": [...]} as JSON. Whoever dials an address looks for it among the addresses alone. */}}
{{- define "binnacle.serverNames" -}}
{{- $names := list "localhost" }}
{{- $addresses := list }}
{{- range $service := list (include "binnacle.name" .) (printf "%s-ingest" (include "binnacle.name" .)) }}
{{- $names = concat $names (list $service (printf "%s.%s" $service $.Release.Namespace) (printf "%s.%s.svc" $service $.Release.Namespace) (printf "%s.%s.svc.%s" $service $.Release.Namespace $.Values.clusterDomain)) }}
{{- end }}
{{- with .Values.openshift.ingestHost }}{{ $names = append $names . }}{{ end }}
{{- range .Values.aggregator.extraNames }}
{{- if regexMatch "^[0-9.]+$|:" . }}{{ $addresses = append $addresses . }}{{ else }}{{ $names = append $names . }}{{ end }}
{{- end }}
{{- dict "names" (uniq $names) "addresses" $addresses | toJson }}
{{- end }}

{{/* life: of a secret's certificate, {"kept": "yes" or "", "made": "…", "ends": "…"} in Unix seconds; (list secret days may-be-kept). It is kept
while more than a third of its life is left, else it begins anew. The first charts wrote no annotations: there, life began with the secret. */}}
{{- define "binnacle.life" -}}
{{- $secret := index . 0 }}
{{- $seconds := mul (index . 1) 86400 }}
{{- $now := now | unixEpoch | int64 }}
{{- $life := dict "kept" "" "made" (toString $now) "ends" (add $now $seconds | toString) }}
{{- if and $secret (index . 2) }}
  {{- $made := dig "metadata" "annotations" "binnacle/made" "" $secret | default (toDate "2006-01-02T15:04:05Z" $secret.metadata.creationTimestamp | unixEpoch) }}
  {{- $ends := dig "metadata" "annotations" "binnacle/ends" "" $secret | default (add (int64 $made) $seconds | toString) }}
  {{- if gt (mul 3 (sub (int64 $ends) $now)) (sub (int64 $ends) (int64 $made)) }}
    {{- $life = dict "kept" "yes" "made" $made "ends" $ends }}
  {{- end }}
{{- end }}
{{- toJson $life }}
{{- end }}

{{/* lifeAnnotations: of what "binnacle.life" gave. */}}
{{- define "binnacle.lifeAnnotations" -}}
binnacle/made: {{ .made | quote }}
binnacle/ends: {{ .ends | quote }}
{{- end }}

{{/* firstCertificate: of a PEM text. */}}
{{- define "binnacle.firstCertificate" -}}
{{ regexFind "-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----" . }}
{{- end }}

{{/* trusted: what a kept certificate's readers trust, as PEM; (list life secret key). For a day after a renewal that is the authority before, too: pods
get new files one after the other. */}}
{{- define "binnacle.trusted" -}}
{{- $bundle := index . 1 | dig "data" (index . 2) "" | b64dec }}
{{- if gt (sub (now | unixEpoch | int64) (int64 (index . 0).made)) 86400 }}
{{- include "binnacle.firstCertificate" $bundle }}
{{- else }}
{{- $bundle }}
{{- end }}
{{- end }}

{{/* generated: makes .Values.pki once, for every template of this rendering; prints nothing. .Values.pki has, for server, client, scheduler and agent, {"crt",
"key", "life"}, and as "server-ca", "clients-ca" and "agents-ca" the authorities to trust. What is there stays: an upgrade must not change certificates under
running pods. What is in the last third of its life, or has other names to be for, is made again by an authority of its own, whose key exists only while
helm renders: it is written nowhere. Charts before wrote the keys into the secret NAME-trial-authorities: nothing signed by these is kept. */}}
{{- define "binnacle.generated" -}}
{{- if not (hasKey .Values "pki") }}
{{- $name := include "binnacle.name" . }}
{{- $days := .Values.certificates.generated.days | int }}
{{- $old := dict }}
{{- range $which := list "server" "client" "scheduler-client" }}
{{- $_ := set $old $which (lookup "v1" "Secret" $.Release.Namespace (printf "%s-%s" $name $which)) }}
{{- end }}
{{- $_ := set $old "agent" (lookup "v1" "Secret" (include "binnacle.agents" .) (printf "%s-agent" $name)) }}
{{- $clean := empty (lookup "v1" "Secret" .Release.Namespace (printf "%s-trial-authorities" $name)) }}
{{- $pki := dict }}
{{- $for := include "binnacle.serverNames" . | fromJson }}
{{- $nameList := join "," (sortAlpha $for.names) }}
{{- range sortAlpha $for.addresses }}{{ $nameList = printf "%s,IP:%s" $nameList . }}{{ end }}
{{- $named := eq (dig "metadata" "annotations" "binnacle/names" "" $old.server) $nameList }}
{{- $life := include "binnacle.life" (list $old.server $days (and $clean $named)) | fromJson }}
{{- $_ := set $pki "names" $nameList }}
{{- if $life.kept }}
{{- $_ := set $pki "server" (dict "life" $life "crt" (index $old.server.data "tls.crt") "key" (index $old.server.data "tls.key")) }}
{{- $_ := set $pki "server-ca" (include "binnacle.trusted" (list $life $old.server "ca.crt")) }}
{{- else }}
{{- $ca := genCA "binnacle trial server" (add $days 1 | int) }}
{{- $pair := genSignedCert "binnacle-aggregator" (concat (list "127.0.0.1" "::1") $for.addresses) $for.names $days $ca }}
{{- $_ := set $pki "server" (dict "life" $life "crt" ($pair.Cert | b64enc) "key" ($pair.Key | b64enc)) }}
{{- $_ := set $pki "server-ca" (printf "%s%s" $ca.Cert (dig "data" "ca.crt" "" $old.server | b64dec | include "binnacle.firstCertificate")) }}
{{- end }}

{{- $separate := include "binnacle.separateCallers" . }}
{{- $life = include "binnacle.life" (list $old.client $days (and $clean (dig "data" "clients-ca.crt" "" $old.server) (or (not $separate) (index $old "scheduler-client")))) | fromJson }}
{{- $ca := dict }}
{{- if $life.kept }}
{{- $_ := set $pki "clients-ca" (include "binnacle.trusted" (list $life $old.server "clients-ca.crt")) }}
{{- else }}
{{- $ca = genCA "binnacle trial clients" (add $days 1 | int) }}
{{- $_ := set $pki "clients-ca" (printf "%s%s" $ca.Cert (dig "data" "clients-ca.crt" "" $old.server | b64dec | include "binnacle.firstCertificate")) }}
{{- end }}
{{- range $which, $holder := ternary (dict "client" "binnacle-caller" "scheduler-client" "binnacle-scheduler") (dict "client" "binnacle-caller") (eq $separate "true") }}
{{- if $life.kept }}
{{- $data := (index $old $which).data }}
{{- $_ := set $pki $which (dict "life" $life "crt" (index $data "tls.crt") "key" (index $data "tls.key")) }}
{{- else }}
{{- $pair := genSignedCert $holder nil (list $holder) $days $ca }}
{{- $_ := set $pki $which (dict "life" $life "crt" ($pair.Cert | b64enc) "key" ($pair.Key | b64enc)) }}
{{- end }}
{{- end }}

{{- /* Agents that still have a certificate, when tokens begin to speak, are known until the next upgrade. */}}
{{- $trusted := "" }}
{{- if dig "data" "tls.crt" "" $old.agent }}{{ $trusted = dig "data" "agents-ca.crt" "" $old.server | b64dec | include "binnacle.firstCertificate" }}{{ end }}
{{- if eq .Values.agent.identity "certificate" }}
{{- $nodes := .Values.certificates.nodes }}
{{- if not $nodes }}
{{- range (lookup "v1" "Node" "" "").items }}{{ $nodes = append $nodes .metadata.name }}{{ end }}
{{- end }}
{{- $nodeList := join "," (sortAlpha $nodes) }}
{{- $known := eq (dig "metadata" "annotations" "binnacle/nodes" "" $old.agent) $nodeList }}
{{- $life = include "binnacle.life" (list $old.agent $days (and $clean $known $trusted)) | fromJson }}
{{- if $life.kept }}
{{- $_ := set $pki "agent" (dict "life" $life "crt" (index $old.agent.data "tls.crt") "key" (index $old.agent.data "tls.key")) }}
{{- $trusted = include "binnacle.trusted" (list $life $old.server "agents-ca.crt") }}
{{- else }}
{{- $ca = genCA "binnacle trial agents" (add $days 1 | int) }}
{{- $pair := genSignedCert "binnacle-agent" nil $nodes $days $ca }}
{{- $_ := set $pki "agent" (dict "life" $life "crt" ($pair.Cert | b64enc) "key" ($pair.Key | b64enc)) }}
{{- $trusted = printf "%s%s" $ca.Cert $trusted }}
{{- end }}
{{- $_ := set $pki "nodes" $nodeList }}
{{- end }}
{{- $_ := set $pki "agents-ca" $trusted }}
{{- /* A secret's type can never change. The first charts made this one kubernetes.io/tls. */}}
{{- $_ := set $pki "agentType" (default "Opaque" (dig "type" "" $old.agent)) }}
{{- $_ := set .Values "pki" $pki }}
{{- end }}
{{- end }}

{{/* test: what the pods of "helm test" have in common, and below it their container; volumeMounts come last, so that a test may add to them. */}}
{{- define "binnacle.test" -}}
restartPolicy: Never
{{- include "binnacle.pullSecrets" . }}
nodeSelector: {{ toJson .Values.aggregator.nodeSelector }}
tolerations: {{ toJson .Values.aggregator.tolerations }}
securityContext:
  {{- include "binnacle.restrictedPod" . | nindent 2 }}
{{- end }}

{{- define "binnacle.testContainer" -}}
{{ include "binnacle.image" (list . "aggregator") }}
env:
- {name: BINNACLE_AGGREGATOR, value: "https://{{ include "binnacle.host" . }}:9102"}
- {name: BINNACLE_CA, value: /etc/binnacle/pki/ca.crt}
- {name: BINNACLE_CERT, value: /etc/binnacle/pki/tls.crt}
- {name: BINNACLE_KEY, value: /etc/binnacle/pki/tls.key}
securityContext:
  {{- include "binnacle.restricted" . | nindent 2 }}
resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 256Mi}}
volumeMounts:
- {name: pki, mountPath: /etc/binnacle/pki, readOnly: true}
{{- end }}

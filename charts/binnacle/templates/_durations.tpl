{{/* seconds: of a duration as the programs take it ("1h30m"). */}}
{{- define "binnacle.seconds" -}}
{{- $units := dict "ns" 1e-9 "us" 1e-6 "µs" 1e-6 "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 }}
{{- $sum := 0.0 }}
{{- range regexFindAll "[0-9.]+[a-zµ]+" . -1 }}
{{- $number := regexFind "^[0-9.]+" . }}
{{- $sum = addf $sum (mulf (float64 $number) (get $units (trimPrefix $number .))) }}
{{- end }}
{{- $sum }}
{{- end }}

{{/* checkDurations: fails with the path of a setting of a program, (list . "agent"), that the program would refuse. */}}
{{- define "binnacle.checkDurations" -}}
{{- $top := index . 0 }}
{{- $name := index . 1 }}
{{- $settings := (index $top.Values $name).settings }}
{{- range $key, $form := index ($top.Files.Get "durations.yaml" | fromYaml) $name }}
  {{- if hasKey $settings $key }}
    {{- $given := index $settings $key }}
    {{- $bounds := regexFind "from .*" $form | splitList " " }}
    {{- $seconds := include "binnacle.seconds" $given | float64 }}
    {{- $none := and (hasPrefix "0s, or" $form) (eq $seconds 0.0) }}
    {{- if not (or $none (and (ge $seconds (include "binnacle.seconds" (index $bounds 1) | float64)) (le $seconds (include "binnacle.seconds" (index $bounds 3) | float64)))) }}
      {{- fail (printf "%s.settings.%s: %s is out of bounds: give a duration, %s" $name $key $given $form) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}

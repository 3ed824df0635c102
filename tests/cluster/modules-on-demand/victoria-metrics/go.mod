module binnacle/tests/cluster/victoria-metrics

go 1.26.6

require github.com/VictoriaMetrics/VictoriaMetrics v1.151.0

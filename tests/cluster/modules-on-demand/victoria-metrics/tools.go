//go:build tools

// Package tools names the program that go.mod pins, so that "go mod tidy" keeps it.
package tools

import _ "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics"

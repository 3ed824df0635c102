// Whether dashboards are what Grafana publishes that they must be: reads each file strictly into the types of Grafana's own SDK, which are made
// from its schemas. It says each field that is unknown, missing, or of a wrong type, by its path. The SDK takes queries, and panels of kinds that it
// does not know, as they are.
//
//	grafana-schema FILE...
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// problems of one dashboard.
func problems(text []byte) []error {
	var board dashboard.Dashboard
	var each cog.BuildErrors
	var out []error
	if err := board.UnmarshalJSONStrict(text); errors.As(err, &each) {
		for _, one := range each {
			out = append(out, one)
		}
	} else if err != nil {
		return []error{err}
	}
	if err := board.Validate(); err != nil {
		out = append(out, err)
	}
	return out
}

func main() {
	plugins.RegisterDefaultPlugins()
	status := 0
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		found := []error{err}
		if err == nil {
			found = problems(text)
		}
		for _, one := range found {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, one)
			status = 1
		}
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: grafana-schema FILE...")
		status = 2
	}
	os.Exit(status)
}

// Whether dashboards are what Grafana publishes that they must be: reads each file strictly into the types of Grafana's own SDK, which are made
// from its schemas. It says each field that is unknown, missing, or of a wrong type, and each panel of an unknown type, by its path.
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
	return append(out, unknownPanels(board.Panels)...)
}

// unknownPanels: the SDK takes the options of a panel of an unknown type as they are.
func unknownPanels(panels []dashboard.PanelOrRowPanel) []error {
	var out []error
	check := func(p dashboard.Panel) {
		if _, known := cog.NewRuntime().ConfigForPanelcfgVariant(p.Type); !known {
			out = append(out, fmt.Errorf("no panel of Grafana's has the type %q", p.Type))
		}
	}
	for _, p := range panels {
		if p.Panel != nil {
			check(*p.Panel)
		}
		if p.RowPanel != nil {
			for _, inner := range p.RowPanel.Panels {
				check(inner)
			}
		}
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

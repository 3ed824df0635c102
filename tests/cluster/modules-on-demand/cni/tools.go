//go:build tools

// Package tools names the programs that go.mod pins, so that "go mod tidy" keeps them.
package tools

import (
	_ "github.com/containernetworking/plugins/plugins/main/loopback"
	_ "github.com/containernetworking/plugins/plugins/main/ptp"
	_ "github.com/containernetworking/plugins/plugins/ipam/host-local"
)

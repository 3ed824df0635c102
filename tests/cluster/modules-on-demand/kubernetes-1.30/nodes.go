//go:build tools

package tools

// What a node runs. tests/cluster/build makes these only when they are named: tests/kubelet needs them, the other tests do not.
import (
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kubelet"
)

package main

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// strategic is a strategic merge patch of an object of a built-in kind.
type strategic struct {
	Kind   string          `json:"kind"`
	Object json.RawMessage `json:"object"`
	Patch  json.RawMessage `json:"patch"`
}

func (s *strategic) run() (any, error) {
	var kind any
	switch s.Kind {
	case "Pod":
		kind = corev1.Pod{}
	case "Service":
		kind = corev1.Service{}
	case "ServiceAccount":
		kind = corev1.ServiceAccount{}
	case "Node":
		kind = corev1.Node{}
	case "Deployment":
		kind = appsv1.Deployment{}
	case "Ingress":
		kind = networkingv1.Ingress{}
	default:
		return nil, fmt.Errorf("unknown kind %q", s.Kind)
	}
	patched, err := strategicpatch.StrategicMergePatch(s.Object, s.Patch, kind)
	if err != nil {
		return map[string]string{"error": err.Error()}, nil
	}
	return map[string]json.RawMessage{"object": patched}, nil
}

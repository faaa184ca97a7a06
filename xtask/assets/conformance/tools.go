// Keeps the tests below in go.mod when it is tidied; never compiled.

//go:build tools

package tools

import _ "k8s.io/kubernetes/test/e2e"

// Keeps the commands below in go.mod when it is tidied; never compiled.

//go:build tools

package tools

import _ "github.com/envoyproxy/gateway/cmd/egctl"

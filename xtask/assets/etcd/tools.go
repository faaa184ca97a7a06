// Keeps the commands below in go.mod when it is tidied; never compiled.

//go:build tools

package tools

import _ "go.etcd.io/etcd/server/v3"

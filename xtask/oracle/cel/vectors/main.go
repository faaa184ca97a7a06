// Command vectors turns the conformance vectors of the language into JSON: one file for each.
// Usage: vectors <folder with *.textproto> <folder for *.json>
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
	test "cel.dev/expr/conformance/test"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
)

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.textproto"))
	if err != nil || len(files) == 0 {
		fmt.Fprintln(os.Stderr, "no vectors in", os.Args[1], err)
		os.Exit(1)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		var vectors test.SimpleTestFile
		if err := prototext.Unmarshal(text, &vectors); err != nil {
			panic(file + ": " + err.Error())
		}
		out, err := protojson.Marshal(&vectors)
		if err != nil {
			panic(file + ": " + err.Error())
		}
		name := strings.TrimSuffix(filepath.Base(file), ".textproto") + ".json"
		if err := os.WriteFile(filepath.Join(os.Args[2], name), out, 0o644); err != nil {
			panic(err)
		}
	}
}

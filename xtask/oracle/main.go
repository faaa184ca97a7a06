// The oracle: the libraries that Kubernetes itself is made of, behind a line of JSON in and a line of JSON
// out. What it answers is right by definition; `cargo xtask conformance oracle` compares ours with it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// question is one line of input; which fields count depends on Ask.
type question struct {
	Ask       string     `json:"ask"`
	Sequence  *sequence  `json:"sequence"`
	Custom    *custom    `json:"custom"`
	Strategic *strategic `json:"strategic"`
}

func answer(line []byte) (out any, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("panic: %v", caught)
		}
	}()
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	switch asked.Ask {
	case "sequence":
		return asked.Sequence.run()
	case "custom":
		return asked.Custom.run()
	case "strategic":
		return asked.Strategic.run()
	}
	return nil, fmt.Errorf("nobody knows how to answer %q", asked.Ask)
}

func main() {
	// What the libraries would log is in the answers.
	klog.SetLogger(logr.Discard())
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		result, err := answer(line)
		if err != nil {
			result = map[string]string{"fatal": err.Error()}
		}
		if err := encoder.Encode(result); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		// An answer is waited for.
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				os.Exit(1)
			}
		}
	}
}

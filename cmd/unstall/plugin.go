package main

import (
	"path/filepath"
	"strings"
)

// kubectlArgs returns the arguments of unstall where kubectl runs it as its plugin, under the name
// kubectl-unstall (https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/): kubectl
// unstall pod/NAME is unstall debug pod/NAME. Other commands keep their arguments.
func kubectlArgs(program string, args []string) []string {
	if strings.TrimSuffix(filepath.Base(program), ".exe") != "kubectl-unstall" {
		return args
	}
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		for _, name := range commandNames() {
			if a == name {
				return args
			}
		}
		break
	}
	if len(args) == 0 || len(args) == 1 && args[0] == "help" {
		args = []string{"--help"}
	}
	return append([]string{"debug"}, args...)
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProblemMatcher runs the tasks of deploy/vscode and holds what they print against their problem matchers, line by line as
// VS Code does (https://code.visualstudio.com/docs/debugtest/tasks#_defining-a-problem-matcher).
func TestProblemMatcher(t *testing.T) {
	text, err := os.ReadFile("../../deploy/vscode/tasks.json")
	if err != nil {
		t.Fatal(err)
	}
	type pattern struct {
		Regexp              string
		File, Code, Message int
	}
	var sample struct {
		Tasks []struct {
			Label          string
			Args           []string
			ProblemMatcher json.RawMessage
		}
		Inputs []struct{ ID string }
	}
	if err := json.Unmarshal(text, &sample); err != nil || len(sample.Tasks) != 2 || len(sample.Inputs) != 1 {
		t.Fatalf("%v: %+v", err, sample)
	}
	evidence, err := filepath.Abs("../../internal/diagnose/check/testdata/jvm.g1-evacuation-failure/sick/gc.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "unstall")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	for _, task := range sample.Tasks {
		workspace := t.TempDir()
		var args []string
		for _, a := range task.Args {
			args = append(args, strings.ReplaceAll(a, "${input:"+sample.Inputs[0].ID+"}", evidence))
		}
		c := exec.Command(program, args...)
		c.Dir = workspace
		said, err := c.CombinedOutput() // as the terminal of a task shows it
		if err != nil {
			t.Fatalf("%s: %v: %s", task.Label, err, said)
		}
		if _, err := os.Stat(filepath.Join(workspace, args[len(args)-1])); err != nil {
			t.Errorf("%s: %v", task.Label, err)
		}
		var matcher struct{ Pattern []pattern }
		if json.Unmarshal(task.ProblemMatcher, &matcher) != nil {
			continue // it has none
		}
		found := map[string]string{}
		rest := strings.Split(string(said), "\n")
		for len(rest) >= len(matcher.Pattern) && len(found) == 0 {
			for i, p := range matcher.Pattern {
				m := regexp.MustCompile(p.Regexp).FindStringSubmatch(rest[i])
				if m == nil {
					clear(found)
					break
				}
				for what, group := range map[string]int{"file": p.File, "code": p.Code, "message": p.Message} {
					if group > 0 {
						found[what] = m[group]
					}
				}
			}
			rest = rest[1:]
		}
		if found["code"] != "jvm.g1-evacuation-failure" || found["message"] == "" || found["file"] != "unstall-report.md" {
			t.Errorf("%s: %q of\n%s", task.Label, found, said)
		}
	}
}

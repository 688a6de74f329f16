package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/dev/tools/tooltest"
)

// TestProblemMatcher runs the tasks of deploy/vscode, and has VS Code's own code read the problems in what they print.
func TestProblemMatcher(t *testing.T) {
	code := tooltest.Find(t, "vscode")
	const tasks = "../../deploy/vscode/tasks.json"
	text, err := os.ReadFile(tasks)
	if err != nil {
		t.Fatal(err)
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
		if string(task.ProblemMatcher) == "[]" {
			continue
		}
		read := exec.Command("node", "../../dev/tools/vscode/problems.mjs", code, tasks, task.Label, workspace)
		read.Stdin = bytes.NewReader(said)
		var complaint bytes.Buffer
		read.Stderr = &complaint
		found, err := read.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", task.Label, err, complaint.Bytes())
		}
		const warning = 4 // MarkerSeverity.Warning
		var problems []struct {
			File, Code, Message string
			Severity            int
		}
		if err := json.Unmarshal(found, &problems); err != nil {
			t.Fatalf("%s: %v: %s", task.Label, err, found)
		}
		if len(problems) != 1 {
			t.Fatalf("%s: %d problems, want one: %s", task.Label, len(problems), said)
		}
		p := problems[0]
		if p.Code != "jvm.g1-evacuation-failure" || p.Message == "" || p.File != filepath.Join(workspace, "unstall-report.md") || p.Severity != warning {
			t.Errorf("%s: %+v of\n%s", task.Label, p, said)
		}
	}
}

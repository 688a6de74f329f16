// Missioncontrol compares the diagnoses of the flight recordings of this tree with the results of JDK
// Mission Control's rules, and writes the comparison into a document:
//
//	go run ./dev/missioncontrol -page dev/missioncontrol/coverage-jvm.md
//
// Mission Control's parser and rules come from Maven Central (dev/tools/jmc.sh), a JDK 21 and
// a javac as for the tests. It fails if a rule fires for which why.go does not yet explain why
// unstall says something else.
package main

import (
	"bytes"
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/jfr"
	"github.com/unstall/unstall/lab/build"
)

//go:embed rules/Rules.java
var sources embed.FS

func main() {
	page := flag.String("page", "", "document to put the table into, between <!-- measured: rules --> and <!-- end -->; empty: it is printed")
	flag.Parse()
	if err := compareRules(*page); err != nil {
		fmt.Fprintln(os.Stderr, "missioncontrol:", err)
		os.Exit(1)
	}
}

func compareRules(page string) error {
	files, err := findRecordings()
	if err != nil {
		return err
	}
	fired, err := runRules(context.Background(), files)
	if err != nil {
		return err
	}
	said := make(map[string]*diagnose.Diagnosis)
	for _, name := range files {
		if said[name], err = diagnoseRecording(name); err != nil {
			return err
		}
	}
	text, err := formatTable(fired, said)
	if err != nil || page == "" {
		fmt.Print(text)
		return err
	}
	return replaceTable(page, text)
}

// findRecordings returns the paths of the flight recordings in the tree, sorted.
func findRecordings() (files []string, err error) {
	for _, pattern := range []string{"internal/format/jfr/testdata/*.jfr.gz", "internal/diagnose/check/testdata/*/*/*.jfr.gz"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no flight recordings here: run it where the checkout is")
	}
	slices.Sort(files)
	return files, nil
}

// firing is a result of a rule on a recording.
type firing struct{ file, rule, name, severity string }

// runRules runs Mission Control's rules on the recordings.
func runRules(ctx context.Context, files []string) (fired []firing, err error) {
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	home, err := build.FindJDK(ctx, 21, true, say)
	if err != nil {
		return nil, err
	}
	jmc, err := build.FindJMC(ctx, true, say)
	if err != nil {
		return nil, err
	}
	jars, err := build.Jars(jmc)
	if err != nil {
		return nil, err
	}
	javac, err := build.FindJavac(ctx, true, say)
	if err != nil {
		return nil, err
	}
	classes, err := build.Java(ctx, javac, "missioncontrol", sources, jars, 17, say)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(home, "bin", "java"), append([]string{"-cp", strings.Join(append(jars, classes), ":"), "Rules"}, files...)...)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong // the parser warns of fields that it does not use
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("java: %w: %s", err, wrong.Bytes())
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) >= 4 {
			fired = append(fired, firing{f[0], f[1], f[2], f[3]})
		}
	}
	if len(fired) == 0 {
		return nil, fmt.Errorf("no rule says anything: %s", wrong.Bytes())
	}
	return fired, nil
}

// diagnoseRecording returns the diagnosis of a recording.
func diagnoseRecording(name string) (*diagnose.Diagnosis, error) {
	b := incident.NewBundle()
	if err := format.Read(context.Background(), []format.Format{jfr.Format}, format.File(name), b); err != nil {
		return nil, err
	}
	return diagnose.Run(context.Background(), b, diagnose.Options{})
}

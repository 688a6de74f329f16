package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/operate/compare"
)

// diagnoseSide diagnoses one run of a comparison, for reports that show both sides in full; nil if there is nothing in it to diagnose.
func (s *session) diagnoseSide(name string, slo time.Duration) *diagnose.Diagnosis {
	if name == "-" {
		return nil // reading it already succeeded
	}
	if d := readDiagnosis(name); d != nil {
		return d
	}
	quiet := *s // its problems are already reported
	quiet.err = io.Discard
	b := quiet.readFiles([]string{name})
	if b == nil {
		return nil
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{SLO: slo, Version: programVersion()})
	if err != nil || len(d.Verdicts) == 0 {
		return nil
	}
	return d
}

// readDiagnosis reads a diagnosis from JSON; nil if the file is none.
func readDiagnosis(name string) *diagnose.Diagnosis {
	f, err := format.File(name).Reader()
	if err != nil {
		return nil // reading it as evidence reports the error
	}
	defer f.Close()
	r := bufio.NewReader(f)
	head, _ := r.Peek(512)
	var d diagnose.Diagnosis
	if !compare.IsDiagnosis(head) || json.NewDecoder(r).Decode(&d) != nil {
		return nil
	}
	return &d
}

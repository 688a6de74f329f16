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

// side diagnoses one run of a comparison, for reports that show both sides as a
// whole; nil if there is nothing to be diagnosed in it.
func (s *session) side(name string, slo time.Duration) *diagnose.Diagnosis {
	if name == "-" {
		return nil // it has been read
	}
	if d := stored(name); d != nil {
		return d
	}
	quiet := *s // what is wrong with it has been said
	quiet.err = io.Discard
	b := quiet.read([]string{name})
	if b == nil {
		return nil
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{SLO: slo, Version: version()})
	if err != nil || len(d.Verdicts) == 0 {
		return nil
	}
	return d
}

// stored is a diagnosis that was written as JSON, nil if the file is none.
func stored(name string) *diagnose.Diagnosis {
	f, err := format.File(name).Reader()
	if err != nil {
		return nil // is said when it is read as evidence
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

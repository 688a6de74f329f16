//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/unstall/unstall/dev/bench/table"
)

// page is the document with the results: a part for each part of the
// measurements, between <!-- measured: NAME --> and <!-- end -->.
type page struct {
	name string
	part bytes.Buffer
}

// out receives the printed figures.
var out io.Writer = os.Stdout

// beginPart starts to copy printed text for a part of the document.
func (p *page) beginPart(conditions string) {
	if p.name == "" {
		return
	}
	p.part.Reset()
	fmt.Fprintf(&p.part, "%s\n", conditions)
	out = io.MultiWriter(os.Stdout, &p.part)
}

// endPart puts the copied text into the document, if the document has the part.
func (p *page) endPart(part string) error {
	if p.name == "" {
		return nil
	}
	out = os.Stdout
	text, err := os.ReadFile(p.name)
	if err != nil {
		return err
	}
	now, ok := table.ReplacePart(string(text), part, p.part.String())
	if !ok {
		fmt.Fprintf(os.Stderr, "bench: %s does not show the part %q: it would between <!-- measured: %[2]s --> and <!-- end -->\n", p.name, part)
	}
	return os.WriteFile(p.name, []byte(now), 0o644)
}

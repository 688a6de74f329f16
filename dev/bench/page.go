//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// page is the document that shows what was measured: a part of it for each part of the
// measurements, between <!-- measured: NAME --> and <!-- end -->.
type page struct {
	name string
	part bytes.Buffer
}

// out is where figures are printed.
var out io.Writer = os.Stdout

// beginPart also takes what is printed from now on for a part of the document.
func (p *page) beginPart(conditions string) {
	if p.name == "" {
		return
	}
	p.part.Reset()
	fmt.Fprintf(&p.part, "%s\n", conditions)
	out = io.MultiWriter(os.Stdout, &p.part)
}

// endPart puts what was printed into the document, if the document shows the part.
func (p *page) endPart(part string) error {
	if p.name == "" {
		return nil
	}
	out = os.Stdout
	text, err := os.ReadFile(p.name)
	if err != nil {
		return err
	}
	now, ok := replacePart(string(text), part, p.part.String())
	if !ok {
		fmt.Fprintf(os.Stderr, "bench: %s does not show the part %q: it would between <!-- measured: %[2]s --> and <!-- end -->\n", p.name, part)
	}
	return os.WriteFile(p.name, []byte(now), 0o644)
}

// replacePart returns a document with another text in one of its parts; ok is false if it has no
// such part.
func replacePart(document, part, text string) (now string, ok bool) {
	mark := "<!-- measured: " + part + " -->\n"
	before, rest, begins := strings.Cut(document, mark)
	_, after, ends := strings.Cut(rest, "<!-- end -->")
	if !begins || !ends {
		return document, false
	}
	return before + mark + "```text\n" + strings.TrimRight(text, "\n") + "\n```\n<!-- end -->" + after, true
}

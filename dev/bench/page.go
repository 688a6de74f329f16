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

// begin takes what is printed from now on for a part.
func (p *page) begin(conditions string) {
	if p.name == "" {
		return
	}
	p.part.Reset()
	fmt.Fprintf(&p.part, "%s\n", conditions)
	out = io.MultiWriter(os.Stdout, &p.part)
}

// end puts what was printed into the document.
func (p *page) end(part string) error {
	if p.name == "" {
		return nil
	}
	out = os.Stdout
	text, err := os.ReadFile(p.name)
	if err != nil {
		return err
	}
	now, err := replaced(string(text), part, p.part.String())
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return os.WriteFile(p.name, []byte(now), 0o644)
}

// replaced is a document with another text in one of its parts.
func replaced(document, part, text string) (string, error) {
	mark := "<!-- measured: " + part + " -->\n"
	before, rest, ok := strings.Cut(document, mark)
	_, after, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		return "", fmt.Errorf("has no part %q: a line %q, and after it <!-- end -->", part, strings.TrimSpace(mark))
	}
	return before + mark + "```text\n" + strings.TrimRight(text, "\n") + "\n```\n<!-- end -->" + after, nil
}

//go:build linux

package main

import "testing"

func TestReplaced(t *testing.T) {
	got, ok := replacePart("a\n<!-- measured: x -->\nold\n<!-- end -->\n<!-- measured: y -->\n<!-- end -->\nb\n", "x", "new\n\n")
	if want := "a\n<!-- measured: x -->\n```text\nnew\n```\n<!-- end -->\n<!-- measured: y -->\n<!-- end -->\nb\n"; got != want || !ok {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := replacePart("a", "x", ""); got != "a" || ok {
		t.Errorf("of a document without the part: %q, %v", got, ok)
	}
}

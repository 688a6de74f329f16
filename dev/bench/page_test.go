//go:build linux

package main

import "testing"

func TestReplaced(t *testing.T) {
	got, err := replaced("a\n<!-- measured: x -->\nold\n<!-- end -->\n<!-- measured: y -->\n<!-- end -->\nb\n", "x", "new\n\n")
	if want := "a\n<!-- measured: x -->\n```text\nnew\n```\n<!-- end -->\n<!-- measured: y -->\n<!-- end -->\nb\n"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := replaced("a", "x", ""); err == nil {
		t.Error("a part that is not there is no error")
	}
}

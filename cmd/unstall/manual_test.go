package main

import (
	"strings"
	"testing"
)

func TestManual(t *testing.T) {
	var b strings.Builder
	if err := writeManual(&b, newParser().Model.Node); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH UNSTALL 1", ".SS unstall inspect <file> ...", `\fB\-o, \-\-output=FILE\fP`, `\-\-[no\-]allow\-record`, "($UNSTALL_SLO)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if got := escapeRoff(".not a macro\n.nor this"); got != "\\&.not a macro\n\\&.nor this" {
		t.Errorf("%q", got)
	}
}

package classhisto

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "histo.txt", Render: render,
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		if (err == nil) != (b.Samples.Len() > 0) {
			t.Errorf("%d samples and error %v", b.Samples.Len(), err)
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s at %d @%d\n", c.Kind, c.From, c.Origin.Position())
	}
	x := &b.Samples
	for i := range x.Len() {
		fmt.Fprintf(&w, "@%d %s %s %d %s\n", x.Origin[i].Position(), b.Names.Text(x.Class[i]), b.Names.Text(x.Type[i]), x.Value[i], b.Names.Text(x.Unit[i]))
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "%s %v\n", t.Title, t.Columns)
		for _, r := range t.Rows {
			fmt.Fprintln(&w, r)
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d: %s\n", x.Origin.Position(), x.Text)
	}
	return w.String()
}

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{"[B": "byte[]", "[[I": "int[][]", "[Ljava.lang.String;": "java.lang.String[]", "java.lang.Class": "java.lang.Class", "<methodKlass>": "<methodKlass>",
		"shop.Shop$$Lambda/0x000000004e044c30": "shop.Shop$$Lambda", "shop.Shop$$Lambda$14/0x1": "shop.Shop$$Lambda", "[": "[]", "": "", "java.lang.invoke.LambdaForm$MH/0x0001": "java.lang.invoke.LambdaForm$MH"} {
		if got := Readable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	var w bytes.Buffer
	for range maxKept + 1 {
		w.WriteString(" num #instances #bytes class name\n-----\n 1: 5 80 a.B\n")
	}
	for i := range maxClasses {
		fmt.Fprintf(&w, " %d: 1 16 a.C%d\n", i+2, i)
	}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, suite.Artifact(w.Bytes()), b); err != nil || len(b.Coverage) != maxKept || len(b.Warnings) != 2 {
		t.Errorf("%v, %d histograms, %v", err, len(b.Coverage), b.Warnings)
	}
}

// Classes beyond the limit are told of only where they hold a part of the heap that counts.
func TestSmallestLeftOut(t *testing.T) {
	for first, warned := range map[int]int{80_000: 0, 80: 1} {
		var w bytes.Buffer
		fmt.Fprintf(&w, " num #instances #bytes class name\n-----\n 1: 5 %d a.B\n", first)
		for i := range maxClasses + 20 {
			fmt.Fprintf(&w, " %d: 1 16 a.C%d\n", i+2, i)
		}
		fmt.Fprintf(&w, "Total 2100 %d\n", first+16*(maxClasses+20))
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, suite.Artifact(w.Bytes()), b); err != nil || len(b.Warnings) != warned {
			t.Errorf("%v, %v: want %d warnings", err, b.Warnings, warned)
		}
	}
}

// A recorded histogram has the time when it was recorded.
func TestWhen(t *testing.T) {
	a := suite.Artifact([]byte(" num #instances #bytes class name\n-----\n 1: 5 80 a.B\nTotal 5 80\n"))
	a.Modified, a.About = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixNano(), evidence.Subject{PID: 4711}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, a, b); err != nil || b.Samples.Time[0] != a.Modified || b.Subjects[0].PID != 4711 || !b.Clocks[0].Anchored() {
		t.Errorf("%v, %v of %v", err, b.Samples.Time, b.Subjects)
	}
}

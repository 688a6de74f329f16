package format

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

func claims(name string, word string, how Confidence) Format {
	return Format{Name: name,
		Match: func(head []byte) Confidence {
			if bytes.Contains(head, []byte(word)) {
				return how
			}
			return No
		},
		Parse: func(_ context.Context, a *Artifact, b *evidence.Builder) error {
			return a.Lines(func(l Line) bool {
				if bytes.Contains(l.Text, []byte(word)) {
					b.Fact(evidence.Fact{Key: name, Value: string(l.Text), Origin: b.Origin(l.Number)})
				}
				return true
			})
		}}
}

func TestReadChooses(t *testing.T) {
	formats := []Format{claims("first", "apple", Maybe), claims("second", "pear", Sure), claims("third", "plum", Sure), claims("fourth", "apple", Maybe)}
	for in, want := range map[string]string{
		"apple\n":             "first",
		"apple\npear\n":       "second",
		"plum\npear\napple\n": "second third",
	} {
		bundle := evidence.NewBundle()
		if err := Read(context.Background(), formats, text(in), bundle); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(bundle.Artifacts[0].Formats, " "); got != want {
			t.Errorf("%q was read as %q, want %q", in, got, want)
		}
	}
}

// Of a series the formats of the last artifact are asked first: others only where these are not sure, or what it is about differs.
func TestReadSeries(t *testing.T) {
	asked := 0
	other := claims("other", "plum", Sure)
	match := other.Match
	other.Match = func(head []byte) Confidence { asked++; return match(head) }
	formats := []Format{other, claims("pears", "pear", Sure), claims("apples", "apple", Sure)}
	bundle := evidence.NewBundle()
	for i, x := range []struct {
		series, about, in string
		want              string
		asks              bool
	}{
		{"fruit", "a", "pear\napple\n", "pears apples", true},
		{"fruit", "a", "pear\napple\nplum\n", "pears apples", false},
		{"fruit", "a", "plum\npear\n", "other pears", true},
		{"fruit", "a", "plum\n", "other", true},
		{"fruit", "b", "plum\n", "other", true},
		{"", "a", "plum\n", "other", true},
	} {
		a := text(x.in)
		a.Series, a.About = x.series, evidence.Subject{Name: x.about}
		asked = 0
		if err := Read(context.Background(), formats, a, bundle); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(bundle.Artifacts[i].Formats, " "); got != x.want || asked > 0 != x.asks {
			t.Errorf("%d: %q was read as %q after asking another format %d times, want %q", i, x.in, got, asked, x.want)
		}
	}
}

// One file with two formats in an envelope: each format gets its own lines, and the origin
// is the line of the file.
func TestReadMixed(t *testing.T) {
	formats := []Format{claims("gctrace", "gc ", Sure), claims("access", "GET", Sure)}
	bundle := evidence.NewBundle()
	err := Read(context.Background(), formats, text(gz(t, `2026-11-20T22:49:44Z stderr F gc 1
2026-11-20T22:49:44Z stdout P GET /a-very
2026-11-20T22:49:44Z stderr F gc 2
2026-11-20T22:49:44Z stdout F -long-path
`)), bundle)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range bundle.Facts {
		got = append(got, f.Key+" "+bundle.OriginText(f.Origin)+" "+f.Value)
	}
	want := "gctrace test:1 gc 1; gctrace test:3 gc 2; access test:2 GET /a-very-long-path"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	if a := bundle.Artifacts[0]; strings.Join(a.Envelopes, " ") != "gzip cri" {
		t.Errorf("envelopes %q", a.Envelopes)
	}
}

// Files that users give by mistake, and the line that they get.
func TestReadRefuses(t *testing.T) {
	formats := []Format{claims("gctrace", "gc ", Sure), claims("gotrace", "go 1.", Sure)}
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		a    *Artifact
		is   error
		want string
	}{
		{"empty", text(""), ErrEmpty, "test: is empty: nothing was recorded into it"},
		{"blank", text("\n"), ErrEmpty, "test: is empty: there are blank lines alone"},
		{"empty gzip", text(gz(t, "")), ErrEmpty, "test: is empty: nothing was recorded into it"},
		{"unknown text", text("once upon a time\n"), ErrUnknown, `test: not a format unstall reads: no supported format has lines like "once upon a time". What is read of a running process: unstall record PID`},
		{"long unicode text", text(strings.Repeat("ünïcödé ", 100)), ErrUnknown, "no supported format has lines like \"" + strings.TrimSpace(strings.Repeat("ünïcödé ", 8)[:len(strings.Repeat("ünïcödé ", 7))+len("ünïc")]) + "…\""},
		{"binary", text("\x00\x01\x02\x03\x04"), ErrUnknown, "binary data of an unknown kind"},
		{"program", text("\x7fELF\x02\x01\x01"), ErrUnknown, "it is an ELF program"},
		{"ETW trace", text("\x00\x00\x01\x00" + strings.Repeat("\x00", 70) + "\x02\xc0\x00\x00\x00\x00"), ErrUnknown, "unstall cannot read these. Readable of .NET: a .nettrace"},
		{"zip", text("PK\x03\x04"), ErrUnknown, "zip archive: unpack it first"},
		{"html", text("<!DOCTYPE html>"), ErrUnknown, "HTML or XML"},
		{"javacore", text("0SECTION       TITLE subcomponent dump routine\nNULL           =====\n"), ErrUnknown, "javacore of an IBM or OpenJ9 JVM without threads"},
		{"J9", text("<?xml version=\"1.0\" ?>\n<verbosegc>\n<gc-op id=\"4\">\n"), ErrUnknown, "HTML or XML"},
		{"JRockit", text("[INFO ][memory ] [YC#1] 1.234-1.345: YC 524288KB->12345KB (1048576KB), 0.111 s\n"), ErrUnknown, "JRockit"},
		{"cut gzip header", text(gz(t, "x")[:6]), nil, "test: its gzip header is damaged"},
		{"gzip cut before its first byte", text(gz(t, numbered(10))[:12]), ErrCut, "test: truncated: unexpected EOF"},
		{"missing", File(filepath.Join(dir, "none")), os.ErrNotExist, "no such file or directory"},
		{"directory", File(dir), nil, "is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Read(context.Background(), formats, c.a, evidence.NewBundle())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %q, want %q", err, c.want)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%q does not wrap %q", err, c.is)
			}
			if named := strings.Contains(c.want, "J9") || c.name == "JRockit"; named && strings.Contains(err.Error(), "read are gctrace") {
				t.Errorf("%q lists formats, though it is known what the file is", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestReadKeepsWhatOthersRead(t *testing.T) {
	broken := Format{Name: "broken", Match: func([]byte) Confidence { return Sure },
		Parse: func(context.Context, *Artifact, *evidence.Builder) error { return io.ErrUnexpectedEOF }}
	bundle := evidence.NewBundle()
	err := Read(context.Background(), []Format{broken, claims("good", "pear", Sure)}, text("pear\n"), bundle)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "test: ") {
		t.Errorf("error %v", err)
	}
	if len(bundle.Facts) != 1 {
		t.Errorf("%d facts of the format that could read it, want 1", len(bundle.Facts))
	}
}

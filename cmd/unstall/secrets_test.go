package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/redact/redacttest"
	"github.com/unstall/unstall/internal/collect/capture"
)

// TestSecrets plants secrets into every kind of artifact of a capture, and into files given directly. It looks for them in all
// output made from these.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	all := redacttest.Secrets()
	files := planted(all)
	path := filepath.Join(dir, "planted.unstall")
	w, err := capture.Create(path, capture.Info{Tool: "test", Host: "h", Target: "http://bob:hZ4planted@h", Start: time.Unix(1790000000, 0), Command: []string{"unstall", "gw", "--token", "hZ4planted"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		a, err := w.Create(capture.Meta{Name: f.name, Series: f.series, Origin: "/var/log/" + f.name, Lines: f.lines})
		if err == nil {
			_, err = a.Write(f.content)
		}
		if err == nil {
			err = a.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Warnf("password=%s", "hZ4planted")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all = append(all, redacttest.Secret{Kind: "manifest", Hide: "hZ4planted"})
	c, err := capture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Artifacts()) != len(files) {
		t.Errorf("%d artifacts of %d", len(c.Artifacts()), len(files))
	}
	for _, a := range c.Artifacts() {
		r, err := a.Reader() // unpacked
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Error(a.Name, err)
		}
		_ = r.Close()
		search(t, "artifact "+a.Name, b, all)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	search(t, "the capture", raw, all)

	inputs := [][]string{{path}}
	for _, f := range files {
		name := filepath.Join(dir, f.name)
		if err := os.WriteFile(name, f.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if f.name != "cmdline.txt" { // a user never passes this file directly
			inputs = append(inputs, []string{name})
		}
	}
	for _, in := range inputs {
		for _, form := range []string{"html", "json", "markdown", "text"} {
			out := filepath.Join(dir, "out."+form)
			var said bytes.Buffer
			s := &session{in: strings.NewReader(""), out: &said, err: &said}
			command, err := newParser().Parse(append([]string{"diagnose", "--format", form, "-o", out}, in...))
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Run(s); err != nil {
				t.Error(in, err)
			}
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatalf("%s: %v: %s", in, err, said.String())
			}
			if fi, err := os.Stat(out); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", form, fi.Mode(), err)
			}
			search(t, form+" of "+filepath.Base(in[0]), append(b, said.Bytes()...), all)
			_ = os.Remove(out)
		}
	}
}

// search looks for each secret in a text.
func search(t *testing.T, where string, b []byte, all []redacttest.Secret) {
	t.Helper()
	n := 0
	for _, s := range all {
		if i := bytes.Index(b, []byte(s.Hide)); i >= 0 {
			if n++; n <= 5 {
				t.Errorf("%s holds the secret of %q: %q", where, s.Kind, b[max(0, i-80):min(len(b), i+len(s.Hide)+40)])
			}
		}
	}
	if n > 5 {
		t.Errorf("%s holds %d secrets", where, n)
	}
}

// artifact is a file with secrets in it.
type artifact struct {
	name, series string
	lines        bool
	content      []byte
}

// planted returns files that the tool reads, each with all secrets in places where they may occur.
func planted(all []redacttest.Secret) []artifact {
	var access, log, threads, jvm, proc, profile bytes.Buffer
	stamp := time.Unix(1790000000, 0).UTC()
	fmt.Fprintf(&threads, "%s\nFull thread dump OpenJDK 64-Bit Server VM (17.0.9+9 mixed mode, sharing):\n\n", stamp.Format("2006-01-02 15:04:05"))
	fmt.Fprintf(&jvm, "== %d hsperfdata of 4711 ==\nsun.os.hrt.frequency=1000000000\n", stamp.UnixNano())
	words := texts{}
	words.of("")
	key := words.of("request")
	for i, s := range all {
		at := stamp.Add(time.Duration(i) * 10 * time.Millisecond)
		if s.Args {
			fmt.Fprintf(&jvm, "sun.rt.javaCommand=%q\n", redact.Words(s.Text)) // in the form that the probe writes
			fmt.Fprintf(&proc, "%s\n", redact.Words(s.Text))
			continue
		}
		target := "/play/" + fmt.Sprint(i) + "?x=" + s.Hide
		if f := fieldsOf(s.Text); len(f) > 1 && f[0] == "GET" {
			target = f[1]
		}
		fmt.Fprintf(&access, "203.0.113.9 - - [%s] \"GET %s HTTP/1.1\" 200 512 \"https://h/y?t=%s\" \"curl\" 0.%03d\n", at.Format("02/Jan/2006:15:04:05 -0700"), target, "ref", 100+i)
		fmt.Fprintf(&log, "%s INFO %s\n", at.Format(time.RFC3339Nano), s.Text)
		name := bytes.ReplaceAll([]byte(s.Text), []byte(`"`), []byte(`'`))
		fmt.Fprintf(&threads, "\"%s\" #%d prio=5 os_prio=0 cpu=1.00ms elapsed=10.00s tid=0x00007f0000%06x nid=0x%x runnable  [0x00007f0000000000]\n   java.lang.Thread.State: RUNNABLE\n\tat com.acme.App.work(App.java:10)\n\n", name, i+10, i, i+100)
		label := wire(3, append(varints(1, 0, key), varints(2, 0, words.of(s.Text))...))
		profile.Write(wire(2, append(append(varints(1, 0, 1), varints(2, 0, 1)...), label...)))
	}
	profile.Write(wire(1, append(varints(1, 0, words.of("samples")), varints(2, 0, words.of("count"))...)))
	profile.Write(wire(4, append(varints(1, 0, 1), wire(4, varints(1, 0, 1))...)))
	profile.Write(wire(5, append(varints(1, 0, 1), varints(2, 0, words.of("main.main"))...)))
	for _, s := range words.all {
		profile.Write(wire(6, []byte(s)))
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(profile.Bytes())
	_ = z.Close()
	return []artifact{
		{"access.log", "", true, access.Bytes()}, {"app.log", "", true, log.Bytes()}, {"threads-0001.txt", "threads", true, threads.Bytes()},
		{"hsperfdata.txt", "", false, jvm.Bytes()}, {"cmdline.txt", "", false, proc.Bytes()}, {"cpu-0001.pb.gz", "cpu", false, zipped.Bytes()},
	}
}

func fieldsOf(s string) []string { return strings.Fields(s) }

// texts returns the string table of a profile.
type texts struct{ all []string }

func (t *texts) of(s string) uint64 {
	t.all = append(t.all, s)
	return uint64(len(t.all) - 1)
}

func varints(number, wire, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, number<<3|wire), v)
}

func wire(number uint64, content []byte) []byte {
	return append(varints(number, 2, uint64(len(content))), content...)
}

// TestPrivate overwrites a file that all users could read.
func TestPrivate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, []byte("before"), 0o644); err != nil { //nolint:gosec // is what is tested
		t.Fatal(err)
	}
	f, err := createPrivate(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if fi, err := os.Stat(name); err != nil || fi.Size() > 0 || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %d bytes, %v", fi.Mode(), fi.Size(), err)
	}
}

package jfr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/jfr/jfrtext"
	"github.com/unstall/unstall/internal/format/jfr/recording"
	"github.com/unstall/unstall/lab/jvmapp"
)

// releases are the JDKs whose recordings of testdata/App.java are in testdata, with profile.jfc except for
// events about the host and very frequent ones; beside each are the counts of jfr summary, and the JVM's GC log.
var releases = []int{11, 17, 21, 25}

var suite = formattest.Suite{
	Format: Format,
	Name:   "a.jfr",
	Input: func(t testing.TB, f formattest.File) []byte {
		data, err := jfrtext.Compile(string(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		return data
	},
	More: func(t testing.TB) (all [][]byte) {
		for _, n := range releases {
			all = append(all, sample(t, n))
		}
		return all
	},
	Match: map[string]format.Confidence{recording.Magic + "\x00\x02": format.Sure, "FLX\x00": format.No},
}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	for _, n := range releases {
		b.Run(fmt.Sprint(n), func(b *testing.B) { suite.Benchmark(b, bytes.Repeat(sample(b, n), 10)) })
	}
}

// sample returns the recording of a release.
func sample(t testing.TB, release int) []byte {
	f, err := os.Open(fmt.Sprintf("testdata/jdk%d.jfr.gz", release))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// counted returns a bundle's counts of events by type. Names of checkpoints differ.
func counted(b *evidence.Bundle) map[string]int {
	counts := make(map[string]int)
	for _, t := range b.Tables {
		if t.Title != "Events" {
			continue
		}
		for _, r := range t.Rows {
			counts[strings.ToLower(r[0])], _ = strconv.Atoi(r[1])
		}
	}
	return counts
}

// summary returns the counts of jfr summary: its lines have a type and a count, and possibly a size behind it.
func summary(said string) map[string]int {
	counts := make(map[string]int)
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.Contains(words[0], ".") {
			continue
		}
		if n, err := strconv.Atoi(words[1]); err == nil && n > 0 {
			counts[strings.ToLower(words[0])] += n
		}
	}
	return counts
}

// TestCounts compares the counts of each type of event with those of jfr summary, and
// demands that everything is understood.
func TestCounts(t *testing.T) {
	for _, n := range releases {
		said, err := os.ReadFile(fmt.Sprintf("testdata/jdk%d.counts", n))
		if err != nil {
			t.Fatal(err)
		}
		b := suite.MustRead(t, sample(t, n))
		if d := cmp.Diff(summary(string(said)), counted(b)); d != "" {
			t.Errorf("JDK %d: -jfr summary +unstall\n%s", n, d)
		}
		if len(b.Warnings) > 0 || b.Artifacts[0].Tail {
			t.Errorf("JDK %d: %+v", n, b.Warnings)
		}
	}
}

// TestLive does the same with a JVM's new recording.
func TestLive(t *testing.T) {
	source, err := os.ReadFile("testdata/App.java")
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range []int{releases[0], releases[len(releases)-1]} {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.jfr")
			a := jvmapp.Start(t, release, strings.Replace(string(source), "for (Thread t : all) t.join();", `for (Thread t : all) t.join(); Host.say("done");`, 1),
				"-Xmx64m", "-XX:StartFlightRecording=settings=profile,filename="+file)
			a.Line(t)
			home := a.Home
			if err := a.Stop(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b := suite.MustRead(t, data)
			said, err := exec.Command(filepath.Join(home, "bin", "jfr"), "summary", file).Output()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(summary(string(said)), counted(b)); d != "" || len(b.Warnings) > 0 || b.Artifacts[0].Tail {
				t.Errorf("%+v, -jfr summary +unstall\n%s", b.Warnings, d)
			}
			row := b.Tables[0].Rows[0]
			words := strings.Join(strings.Fields(string(said)), " ")
			start := strings.Replace(row[4][:len("2006-01-02T15:04:05")], "T", " ", 1)
			for _, want := range []string{"Version: " + row[0], "Chunks: " + row[1], "Start: " + start} {
				if !strings.Contains(words, want) {
					t.Errorf("jfr summary does not say %q: %s", want, words[:min(len(words), 200)])
				}
			}
		})
	}
}

// TestAsyncProfiler reads async-profiler's new recordings of CPU time, allocation and locks: the counts of events equal those of jfr
// summary, and samples are of the program's functions.
func TestAsyncProfiler(t *testing.T) {
	agent := tooltest.Find(t, "async-profiler")
	source, err := os.ReadFile("testdata/App.java")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.jfr")
	a := jvmapp.Start(t, 21, strings.Replace(string(source), "for (Thread t : all) t.join();", `for (Thread t : all) t.join(); Host.say("done");`, 1),
		"-Xmx64m", "-agentpath:"+agent+"=start,event=itimer,interval=1ms,alloc=64k,lock=100us,jfr,file="+file)
	a.Line(t)
	home := a.Home
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := suite.MustRead(t, data)
	said, err := exec.Command(filepath.Join(home, "bin", "jfr"), "summary", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(summary(string(said)), counted(b)); d != "" || len(b.Warnings) > 0 || b.Artifacts[0].Tail {
		t.Errorf("%+v, -jfr summary +unstall\n%s", b.Warnings, d)
	}
	found := make(map[string]bool)
	for i := range b.Samples.Len() {
		for _, f := range b.Stacks.Frames(b.Samples.Stack[i]) {
			found[b.Names.Text(b.Samples.Type[i])+" "+b.Names.Text(f.Func)] = true
		}
	}
	for _, want := range []string{evidence.SampleRunning + " App.count", evidence.SampleAllocated + " App.fill"} {
		if !found[want] {
			t.Errorf("no sample %s", want)
		}
	}
	locks := 0
	for i := range b.Intervals.Len() {
		if b.Intervals.Kind[i] == evidence.LockWait {
			locks++
		}
	}
	if locks == 0 {
		t.Error("no wait for a lock")
	}
}

// TestOld refuses recordings of Oracle's JDK 8 by name.
func TestOld(t *testing.T) {
	old := sample(t, 17)
	binary.BigEndian.PutUint16(old[4:], 0)
	binary.BigEndian.PutUint16(old[6:], 9)
	if _, err := suite.Read(old); err == nil || !strings.Contains(err.Error(), "version 0.9 is that of Oracle's JDK 7 and 8") {
		t.Errorf("%v", err)
	}
}

// TestBroken checks the messages about files that are no complete recording.
func TestBroken(t *testing.T) {
	whole := sample(t, 21)
	open := bytes.Clone(whole)
	copy(open[8:16], make([]byte, 8))
	for want, data := range map[string][]byte{
		"it ends within a chunk":                 whole[:len(whole)/2],
		"a chunk was never finished":             open,
		"what follows a chunk is not a chunk":    append(bytes.Clone(whole), "something else"...),
		"chunks of the flight recording without": sample(t, 11)[:80_000],
	} {
		b, err := suite.Read(data)
		if err != nil || !b.Artifacts[0].Tail || !strings.Contains(fmt.Sprint(b.Warnings), want) {
			t.Errorf("%s: %+v, %v", want, b.Warnings, err)
		}
	}
	if _, err := suite.Read(whole[:40]); err == nil || !strings.Contains(err.Error(), "it ends within a chunk") {
		t.Errorf("a header that is cut: %v", err)
	}
}

package jfr

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/format/formattest"
	"github.com/unstall/unstall/lab/jvmapp"
)

var suite = formattest.Suite{Format: Format, Name: "a.jfr", More: func(testing.TB) [][]byte { return [][]byte{recorded(2)} }}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

// recorded is a recording of chunks of 100 bytes, a second each.
func recorded(chunks int) (b []byte) {
	for i := range chunks {
		h := make([]byte, 100)
		copy(h, magic)
		binary.BigEndian.PutUint16(h[4:], 2)
		binary.BigEndian.PutUint16(h[6:], 1)
		binary.BigEndian.PutUint64(h[8:], 100)
		binary.BigEndian.PutUint64(h[32:], uint64(1e18+i*1e9))
		binary.BigEndian.PutUint64(h[40:], 1e9)
		b = append(b, h...)
	}
	return b
}

func TestWhole(t *testing.T) {
	b, err := suite.Read(recorded(3))
	if err != nil || len(b.Tables) != 1 || len(b.Warnings) != 1 || b.Artifacts[0].Tail {
		t.Fatalf("%+v, %v", b, err)
	}
	want := "2.1 3 300 2001-09-09T01:46:40.000Z 2001-09-09T01:46:43.000Z"
	if got := strings.Join(b.Tables[0].Rows[0], " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What Oracle's JDK 8 writes is refused by name.
func TestOld(t *testing.T) {
	old := recorded(1)
	binary.BigEndian.PutUint16(old[4:], 0)
	binary.BigEndian.PutUint16(old[6:], 9)
	if _, err := suite.Read(old); err == nil || !strings.Contains(err.Error(), "version 0.9 is that of Oracle's JDK 7 and 8") {
		t.Errorf("%v", err)
	}
}

// TestCut cuts a recording anywhere: what came before is said, and that it is cut.
func TestCut(t *testing.T) {
	whole := recorded(2)
	for n := 5; n < len(whole); n++ {
		b, err := suite.Read(whole[:n])
		switch {
		case n < headerSize && (err == nil || !strings.Contains(err.Error(), "it ends within a chunk")):
			t.Fatalf("%d bytes: %v", n, err)
		case n >= headerSize && (err != nil || n != 100 && !b.Artifacts[0].Tail):
			t.Fatalf("%d bytes: cut %v, %v", n, b.Artifacts[0].Tail, err)
		}
	}
	open := recorded(1)
	copy(open[8:16], make([]byte, 8))
	if b, err := suite.Read(open); err != nil || !strings.Contains(b.Warnings[0].Text, "never finished") {
		t.Errorf("an open chunk: %v", err)
	}
	if b, err := suite.Read(append(recorded(1), "something else"...)); err != nil || !strings.Contains(b.Warnings[0].Text, "is not a chunk") {
		t.Errorf("something else behind it: %v", err)
	}
}

// TestLive holds the headers of a real recording against what jfr summary says.
func TestLive(t *testing.T) {
	for _, release := range []int{11, 17, 25} {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.jfr")
			a := jvmapp.Start(t, release, `public class App { public static void main(String[] args) { } }`, "-Xmx32m", "-XX:StartFlightRecording=filename="+file)
			home := a.Home
			if err := a.Stop(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b, err := suite.Read(data)
			if err != nil || b.Artifacts[0].Tail || len(b.Tables) != 1 {
				t.Fatalf("%+v, %v", b.Warnings, err)
			}
			said, err := exec.Command(filepath.Join(home, "bin", "jfr"), "summary", file).Output()
			if err != nil {
				t.Fatal(err)
			}
			row := b.Tables[0].Rows[0]
			words := strings.Join(strings.Fields(string(said)), " ")
			start := strings.NewReplacer("T", " ").Replace(row[3][:len("2006-01-02T15:04:05")])
			for _, want := range []string{"Version: " + row[0], "Chunks: " + row[1], "Start: " + start} {
				if !strings.Contains(words, want) {
					t.Errorf("jfr summary does not say %q: %s", want, words[:min(len(words), 200)])
				}
			}
		})
	}
}

package html

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// largest is what the page of a log may take, however large the log.
const largest = 2_000_000

// logOf writes an access log of so many bytes: 200 requests per second to 400 routes, of
// which one in a hundred is slow.
func logOf(w io.Writer, size int) error {
	r := rand.New(rand.NewPCG(3, 4))
	out := bufio.NewWriterSize(w, 1<<16)
	at := time.Date(2026, 10, 10, 13, 0, 0, 0, time.UTC)
	for i, n := 0, 0; n < size; i++ {
		took := .002 + .02*r.ExpFloat64()
		if r.IntN(100) == 0 {
			took *= 40
		}
		k, err := fmt.Fprintf(out, "198.51.100.%d - - [%s] \"GET /r%d/play/%d HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" %.3f\n",
			i%250, at.Add(time.Duration(i)*5*time.Millisecond).Format("02/Jan/2006:15:04:05 -0700"), r.IntN(400), i%5000, 500+i%900, took)
		if err != nil {
			return err
		}
		n += k
	}
	return out.Flush()
}

// gcLogOf writes a JVM's log of so many bytes, with a pause every quarter of a second.
func gcLogOf(w io.Writer, size int) error {
	r := rand.New(rand.NewPCG(5, 6))
	out := bufio.NewWriterSize(w, 1<<16)
	at := .5
	for i, n := 0, 0; n < size; i++ {
		at += .05 + .4*r.Float64()
		what := "Young (Normal) (G1 Evacuation Pause)"
		if r.IntN(500) == 0 {
			what = "Full (System.gc())"
		}
		k, err := fmt.Fprintf(out, "[%.3fs][info][gc] GC(%d) Pause %s %dM->%dM(1024M) %.3fms\n", at, i, what, 700+i%100, 200+i%50, 1+20*r.ExpFloat64())
		if err != nil {
			return err
		}
		n += k
	}
	return out.Flush()
}

// pageOf is the page of a log.
func pageOf(t testing.TB, size int, write func(io.Writer, int) error) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "large.log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f, size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b := incident.NewBundle()
	if err := format.Read(context.Background(), all.Formats, format.File(name), b); err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := Report(&page, d); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// The page of a log that fills all bounds of what is kept is small enough to be sent; a
// larger log makes no larger page. BenchmarkBrowserLog has the whole 500 MB.
func TestLargeLog(t *testing.T) {
	for name, write := range map[string]func(io.Writer, int) error{"access log": logOf, "GC log": gcLogOf} {
		size := 24 << 20 // 170,000 requests, twice what is kept one by one
		if name == "GC log" {
			size = 8 << 20 // 80,000 pauses, eight times that
		}
		if page := pageOf(t, size, write); len(page) > largest {
			t.Errorf("%s of %d MB: the page has %d bytes, want at most %d", name, size>>20, len(page), largest)
		}
	}
}

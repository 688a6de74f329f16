// Package expvar reads a Go program's page /debug/vars (https://pkg.go.dev/expvar): its command line and
// runtime.MemStats, as JSON, with any further variables of the program.
//
//	{"cmdline": ["/app/server"], "memstats": {"Alloc":18213344,…,"PauseNs":[…],"NumGC":3,"GCCPUFraction":0.0012,…}}
//
// The statistics equal those at the end of the heap profile /debug/pprof/heap?debug=1, and package gopprof reads them. The ring
// of the last 256 pauses is used only if it ends at LastGC. The command line goes through package redact.
package expvar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/gopprof"
)

// Format reads the page of expvar.
var Format = format.Format{
	Name:    "expvar",
	About:   "the page /debug/vars of a Go program (expvar): runtime.MemStats as JSON",
	Whole:   true,
	Moments: true,
	Match:   matchHead,
	Parse:   parseArtifact,
}

// maxPage bounds the length of a page, as programs may add anything.
const maxPage = 16 << 20

func matchHead(head []byte) format.Confidence {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return format.No
	}
	_, stats, ok := bytes.Cut(text, []byte(`"memstats"`))
	return format.SureIf(ok && bytes.Contains(stats, []byte(`"Alloc"`)) && bytes.HasPrefix(bytes.TrimLeft(stats, " :\t\r\n"), []byte("{")))
}

// fields are the fields of runtime.MemStats that package gopprof reads, besides the rings.
var fields = []string{"Alloc", "TotalAlloc", "Sys", "Lookups", "Mallocs", "Frees", "HeapAlloc", "HeapSys", "HeapIdle", "HeapInuse", "HeapReleased", "HeapObjects", "StackInuse", "NextGC", "LastGC", "PauseTotalNs"}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	r, err := a.Unwrapped()
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxPage))
	if err != nil {
		return fmt.Errorf("%w: %w", format.ErrCut, err)
	}
	var page struct {
		Command []string                   `json:"cmdline"`
		Stats   map[string]json.RawMessage `json:"memstats"`
	}
	cut := false
	if err := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))).Decode(&page); err != nil {
		if page.Stats, cut = parseTruncated(data), true; page.Stats == nil {
			return fmt.Errorf("expvar: %w", err)
		}
	}
	if len(page.Stats) == 0 {
		return errors.New("expvar: it has no memstats: save the page /debug/vars")
	}
	// One line for each figure, as in a heap profile. The line number of all of them is the first: JSON is often one line.
	var lines []format.Line
	add := func(text string, args ...any) {
		lines = append(lines, format.Line{Text: []byte(fmt.Sprintf(text, args...)), Number: 1})
	}
	add("heap profile: 0: 0 [0: 0] @ heap/1048576")
	add("")
	add("# runtime.MemStats")
	for _, f := range fields {
		if v, ok := page.Stats[f]; ok && len(v) < 32 {
			add("# %s = %s", f, v)
		}
	}
	for _, f := range []string{"PauseNs", "PauseEnd"} {
		var ring []json.Number
		if json.Unmarshal(page.Stats[f], &ring) == nil && len(ring) <= 1024 && len(ring) > 0 {
			words := make([]string, len(ring))
			for i, n := range ring {
				words[i] = n.String()
			}
			add("# %s = [%s]", f, strings.Join(words, " "))
		}
	}
	for _, f := range []string{"NumGC", "NumForcedGC", "GCCPUFraction", "DebugGC"} {
		if v, ok := page.Stats[f]; ok && len(v) < 40 {
			add("# %s = %s", f, v)
		}
	}
	if err := gopprof.Format.Parse(ctx, format.Rewritten(a, lines), b); err != nil {
		return err
	}
	if cut {
		b.Cut()
		b.Warnf(0, "the page breaks off: what came before it was read")
	}
	if t := variablesOf(data); len(t.Rows) > 0 {
		b.Table(t)
	}
	if len(page.Command) > 0 {
		words := redact.Command(page.Command)
		sort.Strings(words[min(1, len(words)):])
		b.Table(evidence.Table{Title: "program", Columns: []string{"command", ""}, Rows: [][]string{{words[0], ""}}})
	}
	return nil
}

// mostVariables are shown of a program's own.
const mostVariables = 20

// variablesOf shows the numbers that the program publishes itself, of a page that may be cut off. What is deeper than the first level may be labels that hold secrets.
func variablesOf(data []byte) evidence.Table {
	t := evidence.Table{Title: "variables of the program", Columns: []string{"", "value"}}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	if _, err := d.Token(); err != nil {
		return t
	}
	for d.More() && len(t.Rows) < mostVariables {
		key, err := d.Token()
		if err != nil {
			break
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			break
		}
		name, ok := key.(string)
		var n float64
		if ok && len(name) < 60 && len(v) < 32 && json.Unmarshal(v, &n) == nil && string(v) != "null" {
			t.Rows = append(t.Rows, []string{name, string(v)})
		}
	}
	return t
}

// parseTruncated returns the figures of a page that is cut off, nil if there are none.
func parseTruncated(data []byte) map[string]json.RawMessage {
	_, rest, ok := bytes.Cut(data, []byte(`"memstats"`))
	if !ok {
		return nil
	}
	rest = bytes.TrimLeft(rest, " :\t\r\n")
	if len(rest) == 0 || rest[0] != '{' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	if _, err := d.Token(); err != nil {
		return nil
	}
	out := make(map[string]json.RawMessage)
	for d.More() && len(out) < 200 {
		key, err := d.Token()
		if err != nil {
			break
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			break
		}
		if k, ok := key.(string); ok {
			out[k] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

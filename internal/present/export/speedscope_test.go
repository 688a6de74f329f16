package export

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// scopeFile is what https://www.speedscope.app/file-format-schema.json demands.
type scopeFile struct {
	Schema string `json:"$schema"`
	Name   string
	Shared struct {
		Frames []struct {
			Name *string
			File *string
		}
	}
	Profiles []struct {
		Type       string
		Name       *string
		Unit       string
		StartValue *int64
		EndValue   *int64
		Samples    [][]int
		Weights    []int64
		Events     []struct {
			Type  string
			At    *int64
			Frame *int
		}
	}
}

// scoped reads a speedscope file and demands what the schema and the program that
// reads it do: all fields, frames that exist, events in order of time, each frame
// closed after those inside it.
func scoped(t *testing.T, data []byte) *scopeFile {
	t.Helper()
	var f scopeFile
	d := json.NewDecoder(strings.NewReader(string(data)))
	if err := d.Decode(&f); err != nil || !utf8.Valid(data) {
		t.Fatalf("not JSON: %v", err)
	}
	if f.Schema != "https://www.speedscope.app/file-format-schema.json" || len(f.Profiles) == 0 {
		t.Fatalf("schema %q, %d profiles", f.Schema, len(f.Profiles))
	}
	for i, x := range f.Shared.Frames {
		if x.Name == nil {
			t.Fatalf("frame %d has no name", i)
		}
	}
	frame := func(n int) {
		if n < 0 || n >= len(f.Shared.Frames) {
			t.Fatalf("there is no frame %d", n)
		}
	}
	for _, p := range f.Profiles {
		if p.Name == nil || p.StartValue == nil || p.EndValue == nil || p.Unit != "nanoseconds" && p.Unit != "none" {
			t.Fatalf("a profile lacks what it needs: %+v", p)
		}
		switch p.Type {
		case "sampled":
			var sum int64
			for i, stack := range p.Samples {
				for _, n := range stack {
					frame(n)
				}
				sum += p.Weights[i]
			}
			if len(p.Samples) != len(p.Weights) || sum != *p.EndValue-*p.StartValue || len(p.Samples) == 0 {
				t.Fatalf("%s: %d samples, %d weights that sum to %d of %d", *p.Name, len(p.Samples), len(p.Weights), sum, *p.EndValue)
			}
		case "evented":
			var open []int
			at := *p.StartValue
			for _, e := range p.Events {
				if *e.At < at || *e.At > *p.EndValue {
					t.Fatalf("%s: an event at %d after one at %d", *p.Name, *e.At, at)
				}
				at = *e.At
				frame(*e.Frame)
				switch {
				case e.Type == "O":
					open = append(open, *e.Frame)
				case e.Type == "C" && len(open) > 0 && open[len(open)-1] == *e.Frame:
					open = open[:len(open)-1]
				default:
					t.Fatalf("%s: event %s of frame %d with %v open", *p.Name, e.Type, *e.Frame, open)
				}
			}
			if len(open) > 0 || len(p.Events) == 0 {
				t.Fatalf("%s: %d events leave %v open", *p.Name, len(p.Events), open)
			}
		default:
			t.Fatalf("profile type %q", p.Type)
		}
	}
	return &f
}

func TestSpeedscope(t *testing.T) {
	s := recorded(t, Options{})
	l := s.tracedLedgers()[0]
	f := scoped(t, exported(t, s, "speedscope", ""))
	var cpu, slow, evented int
	last := int64(1 << 62)
	for _, p := range f.Profiles {
		switch {
		case strings.HasPrefix(*p.Name, "CPU, gateway"):
			cpu++
			if *p.EndValue != 5_980_000_000 {
				t.Errorf("%s: %d ns", *p.Name, *p.EndValue)
			}
		case p.Type == "sampled":
			slow++
			if *p.EndValue != l.Total {
				t.Errorf("%s: %d ns, the ledger has %d", *p.Name, *p.EndValue, l.Total)
			}
		default:
			evented++
			if *p.EndValue > last {
				t.Errorf("%s: after one of %d ns", *p.Name, last)
			}
			last = *p.EndValue
		}
	}
	if len(s.Omitted) != 1 || !strings.HasSuffix(s.Omitted[0], "requests: only the 100 slowest are written") {
		t.Errorf("omitted: %q", s.Omitted)
	}
	if cpu != 1 || slow != 1 || evented != maxShown {
		t.Errorf("%d CPU profiles, %d of slow requests, %d requests", cpu, slow, evented)
	}
}

func TestHostileSpeedscope(t *testing.T) {
	f := scoped(t, exported(t, strange(), "speedscope", ""))
	found := make(map[string]bool)
	for _, x := range f.Shared.Frames {
		found[*x.Name] = true
	}
	for _, name := range hostile {
		if !found["leaf "+strings.ToValidUTF8(name, "\uFFFD")] && !found["leaf "+strings.ReplaceAll(strings.ReplaceAll(name, "\xff", "\uFFFD"), "\xfe", "\uFFFD")] {
			t.Errorf("%q is not a frame", name)
		}
	}
}

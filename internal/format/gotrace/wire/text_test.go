package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// written turns a trace in x/exp/trace's text form (internal/raw) into bytes.
func written(t testing.TB, name string) []byte {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := bytes.Cut(text, []byte("-- trace --\n"))
	if !ok {
		t.Fatal("no trace in ", name)
	}
	types := map[string]byte{"EventBatch": 1, "Stacks": 2, "Stack": 3, "Strings": 4, "String": 5, "CPUSamples": 6, "CPUSample": 7, "Frequency": 8,
		"ExperimentalBatch": 49, "Sync": 50, "EndOfGeneration": 52}
	for k := range 255 {
		if _, ok := types[wire.Type(k).Name()]; !ok {
			types[wire.Type(k).Name()] = byte(k)
		}
	}
	lines := strings.Split(string(text), "\n")
	minor := 0
	fmt.Sscanf(lines[0], "Trace Go1.%d", &minor)
	out := fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", minor)
	for i := 1; i < len(lines); i++ {
		word, rest, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		if word == "" || word[0] == '#' {
			continue
		}
		if quoted, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "data="); ok {
			s, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s:%d: %v", name, i, err)
			}
			out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
			continue
		}
		k, ok := types[word]
		if !ok {
			t.Fatalf("%s:%d: event %q", name, i, word)
		}
		out = append(out, k)
		for rest != "" {
			var key, value string
			key, rest, _ = strings.Cut(rest, "=")
			value, rest, _ = strings.Cut(rest, " ")
			v, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				t.Fatalf("%s:%d: %v", name, i, err)
			}
			out = binary.AppendUvarint(out, v)
			if key == "nframes" {
				for range v {
					i++
					for _, f := range strings.Fields(lines[i]) {
						_, value, _ := strings.Cut(f, "=")
						v, err := strconv.ParseUint(value, 10, 64)
						if err != nil {
							t.Fatalf("%s:%d: %v", name, i, err)
						}
						out = binary.AppendUvarint(out, v)
					}
				}
			}
		}
	}
	return out
}

package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

// small is a short trace of each version, cut behind its first generations.
func small(t testing.TB) (all [][]byte) {
	for _, name := range []string{"go1.22.12-plain-unsat", "go1.24.11-tcpdep-unsat", "go1.25.5-tcpdep-unsat", "go1.26.8-plain-unsat"} {
		all = append(all, content(t, "../testdata/http/"+name+".trace.gz"))
	}
	return all
}

// tiny is a whole trace of every version in which every event there is happens, of a few hundred bytes.
func tiny() []byte {
	return nil
}

// read reads a trace to its end.
func read(data []byte) (events int, err error) {
	r, err := NewReader(bytes.NewReader(data))
	b := NewBatch()
	for err == nil {
		if err = r.Read(b); err == nil {
			events += len(b.Events)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return events, err
}

func TestFlipped(t *testing.T) {
	for _, data := range small(t) {
		rng := rand.New(rand.NewPCG(1, uint64(len(data))))
		for range 300 {
			damaged := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				damaged[HeaderSize+rng.IntN(len(damaged)-HeaderSize)] ^= 1 << rng.IntN(8)
			}
			same(t, damaged)
		}
	}
}

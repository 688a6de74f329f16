package gotrace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/exp/trace"
)

func zzdata(t testing.TB) []byte {
	p := os.Getenv("TRACE")
	if p == "" {
		p = corpus + "/q-default-hi.trace.gz"
	}
	return decompressed(t, p)
}

func bare(data []byte) error {
	r, err := trace.NewReader(bytes.NewReader(data))
	for err == nil {
		_, err = r.ReadEvent()
	}
	if err == io.EOF {
		err = nil
	}
	return err
}

func BenchmarkQRead(b *testing.B) {
	data := zzdata(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		tryBytes(data)
	}
}

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestZZRatio(t *testing.T) {
	if os.Getenv("RATIO") == "" {
		t.Skip()
	}
	data := zzdata(t)
	var bw, bc, rw, rc []float64
	for i := 0; i < 9; i++ {
		runtime.GC()
		t0, c0 := time.Now(), cpu()
		bare(data)
		t1, c1 := time.Now(), cpu()
		runtime.GC()
		t2, c2 := time.Now(), cpu()
		tryBytes(data)
		t3, c3 := time.Now(), cpu()
		bw = append(bw, t1.Sub(t0).Seconds())
		bc = append(bc, (c1 - c0).Seconds())
		rw = append(rw, t3.Sub(t2).Seconds())
		rc = append(rc, (c3 - c2).Seconds())
	}
	for _, s := range [][]float64{bw, bc, rw, rc} {
		slices.Sort(s)
	}
	fmt.Printf("bare wall %.3f cpu %.3f  read wall %.3f cpu %.3f  ratio wall %.2f cpu %.2f\n", bw[4], bc[4], rw[4], rc[4], rw[4]/bw[4], rc[4]/bc[4])
}

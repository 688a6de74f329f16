package interpreter

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/interpreter/v8"
	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

func TestTry(t *testing.T) {
	pid, _ := strconv.Atoi(os.Getenv("TRYPID"))
	if pid == 0 {
		t.Skip()
	}
	f, _ := os.Open(fmt.Sprintf("/proc/%d/exe", pid))
	l, err := v8.ReadLayout(f)
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{process: symbol.SharedProcess(pid), layout: l, names: v8.NewNames(l, memory(pid))}
	own, err := trySampling(pid)
	fmt.Println(own, err)
	r, err := openSampling(pid, own)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	counts := map[string]int{}
	n, lost := 0, 0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(r.FD), Events: unix.POLLIN}}, 200)
		r.EachEvent(func(typ uint32, b []byte) {
			if typ == unix.PERF_RECORD_LOST {
				lost++
			}
			if typ != unix.PERF_RECORD_SAMPLE {
				return
			}
			n++
			s, ok := readSample(b)
			if !ok {
				counts["bad"]++
				return
			}
			text := ""
			for _, f := range w.walk(s.pc, s.registers, s.stack) {
				if f.script {
					text += fmt.Sprintf("  J %s (%s:%d)\n", f.Name, f.Script, f.Line)
				} else {
					name, in := w.process.Name(f.at)
					text += fmt.Sprintf("  n %s [%s]\n", name, in)
				}
			}
			counts[text]++
		})
	}
	fmt.Println("samples", n, "lost", lost, "names lost", w.lost, "cut", w.cut)
	best := 0
	for k, v := range counts {
		if v > best/2 || v > 8 {
			fmt.Println(v)
			fmt.Print(k)
			best = max(best, v)
		}
	}
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru)
	fmt.Println("cpu", ru.Utime, ru.Stime, "rss KB", ru.Maxrss)
}

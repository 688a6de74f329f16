package jvm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// Logs that tell little: without times, without the kind of collections, with few of them, or with what came after a
// safepoint. What they show is said, and nothing beyond.
func TestLittleTold(t *testing.T) {
	const (
		metadata  = "[Full GC (Metadata GC Threshold)  1790M->604M(3072M), %s secs]\n"
		full      = "[Full GC (Allocation Failure)  3050M->3001M(3072M), %s secs]\n"
		asked     = "[Full GC (System.gc())  1790M->604M(3072M), %s secs]\n"
		overhead  = "[2017-01-07T03:29:%02d,335][INFO ][o.e.m.j.JvmGcMonitorService] [n] [gc][%d] overhead, spent [%dms] collecting in the last [1s]\n"
		parnew    = "%d.302: [GC (Allocation Failure) %[1]d.302: [ParNew: 559232K->69888K(629120K), %[2]s secs] 559232K->241020K(2027264K), %[2]s secs] [Times: user=%[3]s sys=0.00, real=%[2]s secs]\n"
		safepoint = "[%d.%06ds][info][safepoint] Safepoint \"ICBufferFull\", Time since last: 900000000 ns, Reaching safepoint: 90000 ns, At safepoint: 4000 ns, Leaving safepoint: %d ns, Total: %d ns\n"
	)
	repeat := func(n int, line func(i int) string) string {
		var w strings.Builder
		for i := range n {
			w.WriteString(line(i))
		}
		return w.String()
	}
	at := 0
	young := func(real, user string) string {
		at++
		return fmt.Sprintf(parnew, at, real, user)
	}
	for _, x := range []struct{ name, text, want, not string }{
		{"metadata, no times", fmt.Sprintf(metadata+metadata, "5.1263847", "4.6519204"), "jvm.metaspace-gc", "jvm.full-gc"},
		{"once", fmt.Sprintf(metadata, "5.1263847"), "", "jvm.metaspace-gc"},
		{"short ones", fmt.Sprintf(metadata+metadata, "0.1263847", "0.6519204"), "", "jvm.metaspace-gc"},
		{"full, no times", fmt.Sprintf(full+full, "2.1263847", "1.6519204"), "jvm.full-gc", "jvm.metaspace-gc"},
		{"requested, no times", fmt.Sprintf(asked+asked, "2.1263847", "1.6519204"), "", "jvm.full-gc"},
		{"a third of each second", repeat(12, func(i int) string { return fmt.Sprintf(overhead, 10+i, 700+i, 300+i) }), "jvm.young-gc-rate", "jvm.long-pause"},
		{"two of them", repeat(2, func(i int) string { return fmt.Sprintf(overhead, 10+i, 700+i, 300+i) }), "", "jvm.young-gc-rate"},
		{"one pace is the best of few", young("0.640", "5.290") + young("0.120", "2.000") + young("0.160", "1.920") + young("0.180", "2.160") + young("0.220", "2.560"), "", "jvm.gc-cpu-starved"},
		{"hardly any CPU in most", young("0.640", "0.200") + young("0.620", "0.210") + young("0.160", "1.920") + young("0.180", "2.160") + young("0.620", "0.260"), "jvm.gc-cpu-starved", ""},
		{"left late", repeat(12, func(i int) string { return fmt.Sprintf(safepoint, 10+i, 500000, 350_000_000, 350_094_000) }), "jvm.safepoint", ""},
		{"left at once", repeat(12, func(i int) string { return fmt.Sprintf(safepoint, 10+i, 500000, 60_000, 154_000) }), "", "jvm.safepoint"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := states(t, x.text)
			if x.want != "" && got[x.want].Verdict != check.Supported {
				t.Errorf("%s is %s (%s)", x.want, got[x.want].Verdict, got[x.want].Summary)
			}
			if x.not != "" && got[x.not].Verdict == check.Supported {
				t.Errorf("%s is supported: %s", x.not, got[x.not].Title)
			}
		})
	}
}

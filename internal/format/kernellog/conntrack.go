package kernellog

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// conntrack is what conntrack -S prints, since boot: a line for each CPU, or in versions before 1.4.5 a line for each counter.
//
//	cpu=0   	found=0 invalid=130 insert=0 insert_failed=0 drop=0 early_drop=0 error=0 search_restart=0
//	insert_failed		0
//
// How much of it is of now is not told: there is no verdict.
type conntrack struct {
	sums map[string]int64
	line int64
}

// lost are the counters of packets and connections that were lost.
var lost = []string{"insert_failed", "drop", "early_drop"}

// isConntrack says whether a line may be one.
func isConntrack(text string) bool {
	return strings.HasPrefix(text, "cpu=") && strings.Contains(text, " insert_failed=") || strings.HasPrefix(text, "insert_failed\t")
}

func (x *conntrack) addLine(text string, line int64) bool {
	add := func(name, value string) bool {
		for _, n := range lost {
			if v, err := strconv.ParseInt(value, 10, 63); n == name && err == nil && v >= 0 {
				if x.sums == nil {
					x.sums = make(map[string]int64)
					x.line = line
				}
				x.sums[name] += min(v, 1<<40)
				return true
			}
		}
		return false
	}
	f := strings.Fields(text)
	if len(f) == 2 && strings.Contains(text, "\t") {
		return add(f[0], f[1])
	}
	if !isConntrack(text) {
		return false
	}
	any := false
	for _, s := range f {
		name, value, _ := strings.Cut(s, "=")
		any = add(name, value) || any
	}
	return any
}

func (x *conntrack) emitCounts(b *evidence.Builder) {
	if x.sums == nil {
		return
	}
	t := evidence.Table{Title: "what the kernel lost of tracked connections, since boot", Columns: []string{"", "times"}}
	most := int64(0)
	for _, n := range lost {
		if v, told := x.sums[n]; told {
			t.Rows = append(t.Rows, []string{n, strconv.FormatInt(v, 10)})
			most = max(most, v)
		}
	}
	b.Table(t)
	if most > 0 {
		b.Warnf(x.line, "packets of tracked connections were lost since boot: conntrack -S twice, ten seconds apart, shows whether they are now")
	}
}

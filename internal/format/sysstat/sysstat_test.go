package sysstat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "sar.txt",
	Match: map[string]format.Confidence{
		"Linux 6.1.0-18-amd64 (web1) \t11/23/2024 \t_x86_64_\t(2 CPU)\n":                                                     format.Sure,
		"procs -----------memory----------\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa\n": format.Sure,
		"Device            r/s     rkB/s     w/s  aqu-sz  %util\n":                                                           format.Sure,
		"device    r/s    w/s   kr/s   kw/s wait actv  svc_t  %w  %b\n":                                                      format.Sure,
		"05:30:36     CPU    %usr   %nice    %sys   %idle\n":                                                                 format.Sure,
		"Linux is a kernel (of 1991) and more\n":                                                                             format.No,
		"  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n":                                     format.No,
		"05:30:36 GET /index.html 200\n":                                                                                     format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for _, s := range b.Series {
			if slices.Min(s.V) < 0 {
				t.Errorf("%s is below zero: %v", s.Name, s.V)
			}
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w bytes.Buffer
	w.WriteString("Linux 6.1.0-18-amd64 (web1) \t11/23/2024 \t_x86_64_\t(2 CPU)\n\n")
	for i := range 20_000 {
		fmt.Fprintf(&w, "%02d:%02d:%02d     CPU    %%usr   %%nice    %%sys %%iowait    %%irq   %%soft  %%steal  %%guest  %%gnice   %%idle\n", i/3600, i/60%60, i%60)
		for _, of := range []string{"all", "0", "1"} {
			fmt.Fprintf(&w, "%02d:%02d:%02d     %s   18.22   12.15   37.76    0.00    0.00   11.87    0.00    0.00    0.00   20.00\n", i/3600, i/60%60, i%60, of)
		}
	}
	suite.Benchmark(b, w.Bytes())
}

// TestSame holds that tools that look at one host at the same time say the same of it.
func TestSame(t *testing.T) {
	const sar = `Linux 6.1.0-18-amd64 (web1) 	11/23/2024 	_x86_64_	(8 CPU)

05:30:36        CPU     %user     %nice   %system   %iowait    %steal     %idle
05:30:37        all     25.00      0.00     12.50     12.50      0.00     50.00
`
	mpstat := strings.NewReplacer("%user     %nice   %system   %iowait    %steal     %idle", "%usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle",
		"25.00      0.00     12.50     12.50      0.00     50.00", "25.00 0.00 10.00 12.50 1.00 1.50 0.00 0.00 0.00 50.00").Replace(sar)
	iostat := `Linux 6.1.0-18-amd64 (web1) 	11/23/2024 	_x86_64_	(8 CPU)

11/23/2024 05:30:36 AM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    1.00    0.00    0.00   98.00

11/23/2024 05:30:37 AM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          25.00    0.00   12.50   12.50    0.00   50.00
`
	vmstat := ` r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 2  0 102400  16432   5120 200000   10   20   300   400  500  600  1  1 98  0  0 2024-11-23 05:30:36
 2  0 102400  16432   5120 200000   10   20   300   400  500  600 25 13 50 12  0 2024-11-23 05:30:37
`
	for name, text := range map[string]string{"sar": sar, "mpstat": mpstat, "iostat": iostat, "vmstat": vmstat} {
		b := suite.MustRead(t, []byte(text))
		busy, want := b.SeriesOf(0, evidence.SeriesHostCPUBusy), 3.
		if name == "vmstat" { // it does not tell how many there are
			busy, want = b.SeriesOf(0, evidence.ShareOf(evidence.SeriesHostCPUBusy)), .38
		}
		if busy == nil {
			t.Errorf("%s: not known how busy", name)
			continue
		}
		if busy.V[0] != want || len(busy.T) != 2 || busy.T[1]%60e9 != 37e9 || busy.T[1]-busy.T[0] != 1e9 {
			t.Errorf("%s: %v of %v", name, busy.V, busy.T)
		}
	}
}

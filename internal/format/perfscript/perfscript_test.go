package perfscript

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "stacks.txt",
	Match: map[string]format.Confidence{
		"writer 23007 14782.137805:    5025125 cpu-clock: \n\tffffffff8163e5be free_pages_and_swap_cache+0x8e ([kernel.kallsyms])\n":               format.Sure,
		"C2 CompilerThre 4711/4720 [003]  1.5: cycles:u:\n\t    7f0012345678 Compile::Compile (/usr/lib/jvm/libjvm.so)\n":                          format.Sure,
		"a 1 [000] 14784.358021: sched:sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n": format.Sure,
		"Error: 12 of 30:\n\tat com.example.Main.main(Main.java:5)\n":                                                                              format.No,
		"goroutine 1 [running]:\nmain.main()\n\t/src/main.go:5\n":                                                                                  format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for _, v := range b.Samples.Value {
			if v <= 0 {
				t.Errorf("a sample of %d ns", v)
			}
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, large()) }

func large() []byte {
	var w bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&w, "writer 23007/%d [00%d] %d.%06d:    5025125 cpu-clock: \n", 23007+i%10, i%2, 14782+i/200, i%200*5000)
		for j := range 20 {
			fmt.Fprintf(&w, "\tffffffff8163e5%02x function_%d+0x8e ([kernel.kallsyms])\n", j, (i*j)%500)
		}
		w.WriteString("\n")
	}
	return w.Bytes()
}

// Fields that were asked for, or not, change how a line looks and not what it says.
func TestEvent(t *testing.T) {
	for text, want := range map[string]string{
		"writer 23007 14782.137805:    5025125 cpu-clock: ":                  "writer 0/23007 -1 14782137805000 5025125 cpu-clock",
		"writer  4711/4712  [001] 14782.137805:    5025125 cpu-clock:pppH: ": "writer 4711/4712 1 14782137805000 5025125 cpu-clock",
		"C2 CompilerThre 4711/4720 1.5: cycles:u: ":                          "C2 CompilerThre 4711/4720 -1 1500000000 0 cycles",
		"kworker/0:1-eve 12 [000] d..2. 5.000001: cpu_core/cycles/P: ":       "kworker/0:1-eve 0/12 0 5000001000 0 cycles",
		"writer 4711 cpu-clock: ":                                            "writer 0/4711 -1 0 0 cpu-clock",
		"a 0 [000] 2.000000001: 1 cpu-clock:":                                "a 0/0 0 2000000001 1 cpu-clock",
		"writer 4711":                                                        "",
		"2024-01-01 12:00:01 GET /x":                                         "",
		"\tffffffff8163e5be f+0x8e":                                          "",
	} {
		got := ""
		if e, ok := eventOf([]byte(text)); ok {
			got = fmt.Sprintf("%s %d/%d %d %d %d %s", e.comm, e.pid, e.tid, e.cpu, e.at, e.period, e.baseName())
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFrame(t *testing.T) {
	for text, want := range map[string]string{
		"\tffffffff815f2af7 __x64_sys_munmap+0x17 ([kernel.kallsyms])":              "__x64_sys_munmap in [kernel.kallsyms] true",
		"\t            128c main+0x2f (/usr/bin/writer)":                            "main in /usr/bin/writer false",
		"\tffffffffc0123456 nf_hook+0x1 ([nf_conntrack])":                           "nf_hook in [nf_conntrack] true",
		"\t    7ffd1234 __vdso_gettimeofday+0x1 ([vdso])":                           "__vdso_gettimeofday in [vdso] false",
		"\t  7f001234 std::map<int, long>::at(int const&)+0x10 (/usr/bin/a b)":      "std::map<int, long>::at(int const&) in /usr/bin/a b false",
		"\t  7f001234 helper (inlined)":                                             "helper in  false",
		"\t  7f001234 [unknown] (/usr/lib/libz.so)":                                 "unknown, in /usr/lib/libz.so in /usr/lib/libz.so false",
		"\tffffffff815f2af7 do_syscall_64":                                          "do_syscall_64 in  true",
		"\tmain.(*server).handle":                                                   "main.(*server).handle in  false",
		"\tffffffffc0555555 xfs_log+0x1 (/lib/modules/6.1/kernel/fs/xfs/xfs.ko.xz)": "xfs_log in /lib/modules/6.1/kernel/fs/xfs/xfs.ko.xz true",
	} {
		f, ok := frameOf([]byte(text))
		if got := fmt.Sprintf("%s in %s %v", f.name, f.file, f.isKernel()); !ok || got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

package linux_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/kernelstacks"
)

// thread is what a thread does of each tenth of a second, in parts of it.
type thread struct {
	ran   float64
	in    string // the class of what it runs: "" its own code
	waits map[string]float64
}

// stacksOf are stacks of the kernel, innermost first.
var stacksOf = map[string]string{
	"fsync":   "jbd2_log_wait_commit ext4_sync_file vfs_fsync_range __x64_sys_fsync",
	"dsync":   "submit_bio_wait blkdev_issue_flush ext4_sync_file ext4_buffered_write_iter vfs_write ksys_pwrite64",
	"disk":    "folio_wait_bit_common filemap_read vfs_read ksys_pread64",
	"reclaim": "shrink_node try_to_free_mem_cgroup_pages handle_mm_fault asm_exc_page_fault",
	"swap":    "folio_wait_bit_common do_swap_page handle_mm_fault asm_exc_page_fault",
	"fault":   "clear_page_erms handle_mm_fault asm_exc_page_fault",
	"softirq": "net_rx_action handle_softirqs __local_bh_enable_ip udp_sendmsg __x64_sys_sendto",
	"futex":   "futex_wait_queue do_futex __x64_sys_futex",
	"poll":    "ep_poll do_epoll_wait __x64_sys_epoll_wait",
	"sleep":   "do_nanosleep hrtimer_nanosleep __x64_sys_nanosleep",
	"write":   "anon_pipe_write vfs_write ksys_write",
	"read":    "anon_pipe_read vfs_read ksys_read",
}

const (
	began  = int64(1763689985000000000)
	tenth  = int64(1e8)
	period = int64(10101010)
	tenths = 100
)

// kernelTexts are the recordings of threads that go on like that for 10 s.
func kernelTexts(threads []thread) (running, waiting string) {
	var on, off strings.Builder
	fmt.Fprintf(&on, "# kernel stacks of pid 4711, running, one in %d ns\nfrom %d\nf 1 u service\twork\ns 1 1\n", period, began)
	fmt.Fprintf(&off, "# kernel stacks of pid 4711, waiting, from 1000000 ns on\nfrom %d\nfd 7 /var/lib/journal\n", began)
	known := map[string]int{"": 1}
	frames := 1
	number := func(class string) int {
		if n := known[class]; n > 0 {
			return n
		}
		known[class] = len(known) + 1
		var ids []string
		for f := range strings.FieldsSeq(stacksOf[class]) {
			frames++
			fmt.Fprintf(&on, "f %d k %s\n", frames, f)
			fmt.Fprintf(&off, "f %d k %s\n", frames, f)
			ids = append(ids, fmt.Sprint(frames))
		}
		for _, w := range []*strings.Builder{&on, &off} {
			fmt.Fprintf(w, "s %d %s\n", known[class], strings.Join(ids, " "))
		}
		return known[class]
	}
	for n, t := range threads {
		samples := 0.
		for i := range int64(tenths) {
			at := began + i*tenth
			for samples += t.ran * float64(tenth); samples >= float64(period); samples -= float64(period) {
				fmt.Fprintf(&on, "r %d %d %d\n", at+tenth/2, 4711+n, number(t.in))
			}
			for class, part := range t.waits {
				fmt.Fprintf(&off, "w %d %d %d S 7 %d\n", at+1, int64(part*float64(tenth))-1, 4711+n, number(class))
			}
		}
	}
	end := fmt.Sprintf("until %d\n", began+tenths*tenth)
	return on.String() + end, off.String() + end
}

// Without requests, what threads with work spend their time on counts, and a thread that nobody
// may wait for does not.
func TestThreadsWithWork(t *testing.T) {
	waits := func(of ...any) map[string]float64 {
		m := make(map[string]float64)
		for i := 0; i < len(of); i += 2 {
			m[of[i].(string)] = of[i+1].(float64)
		}
		return m
	}
	main := thread{ran: .2, waits: waits("poll", .7)}
	worker := func(on string) thread { return thread{ran: .05, waits: waits("futex", .2, on, .7)} }
	for _, c := range []struct {
		about     string
		threads   []thread
		supported string
		open      string // inconclusive
	}{
		{"a batch that syncs", []thread{{ran: .1, waits: waits("fsync", .8)}}, linux.DiskSync.ID, ""},
		{"a batch whose writes are synchronous", []thread{{ran: .1, waits: waits("dsync", .8)}}, linux.DiskSync.ID, ""},
		{"a batch that reads a cold file", []thread{{ran: .1, waits: waits("disk", .8)}}, linux.DiskBusy.ID, ""},
		{"workers that sync", []thread{main, worker("fsync"), worker("fsync"), worker("fsync")}, linux.DiskSync.ID, ""},
		{"workers that wait for their memory limit", []thread{main, worker("reclaim"), worker("reclaim")}, linux.MemoryReclaim.ID, ""},
		{"workers whose memory is in swap", []thread{main, worker("swap"), worker("swap")}, linux.Swap.ID, ""},
		{"a loop that syncs while clients wait", []thread{{ran: .1, waits: waits("poll", .3, "fsync", .55)}}, linux.DiskSync.ID, ""},
		{"one thread that syncs beside a server", []thread{main, {ran: .01, waits: waits("futex", .3, "fsync", .6)}}, "", linux.DiskSync.ID},
		{"one thread that syncs now and then beside a server", []thread{main, {ran: .01, waits: waits("futex", .9, "fsync", .05)}}, "", ""},
		{"a program that syncs now and then", []thread{{ran: .01, waits: waits("sleep", .95, "fsync", .02)}}, "", ""},
		{"a server that nobody asks anything", []thread{{waits: waits("poll", .99)}, {waits: waits("futex", .99)}, {waits: waits("futex", .99)}}, "", ""},
		{"a server that computes", []thread{{ran: .8, waits: waits("poll", .15)}}, "", ""},
		{"threads that are woken for work", []thread{main, {ran: .2, waits: waits("futex", .75)}, {ran: .2, waits: waits("futex", .75)}}, "", ""},
		{"one that waits for its input", []thread{{ran: .1, waits: waits("read", .85)}}, "", ""},
		{"one behind a full pipe", []thread{{ran: .1, waits: waits("write", .85)}}, "", ""},
		{"one that sends packets", []thread{{ran: .5, in: "softirq"}, {ran: .4}}, linux.Softirq.ID, ""},
		{"one that touches new memory", []thread{{ran: .5, in: "fault"}, {ran: .4}}, linux.PageFaults.ID, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			running, waiting := kernelTexts(c.threads)
			b := incident.NewBundle()
			dir := t.TempDir()
			for name, text := range map[string]string{"oncpu.txt": running, "offcpu.txt": waiting} {
				name = filepath.Join(dir, name)
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := format.Read(context.Background(), []format.Format{kernelstacks.Format}, format.File(name), b); err != nil {
					t.Fatal(err)
				}
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range d.Verdicts {
				if !strings.HasPrefix(v.Cause, "linux.") {
					continue
				}
				if (v.Verdict == check.Supported) != (v.Cause == c.supported) {
					t.Errorf("%s is %s: %s %s", v.Cause, v.Verdict, v.Title, v.Summary)
				}
				if v.Cause == c.open && v.Verdict != check.Inconclusive {
					t.Errorf("%s is %s: %s", v.Cause, v.Verdict, v.Summary)
				}
				if v.Verdict == check.Supported && (len(v.Fix) == 0 || len(v.Evidence) == 0) {
					t.Errorf("%s has %d figures and %d fixes", v.Cause, len(v.Evidence), len(v.Fix))
				}
			}
			if c.supported != "" && (len(d.Verdicts) == 0 || d.Verdicts[0].Cause != c.supported) {
				t.Errorf("%s is not first: %+v", c.supported, d.Verdicts[0])
			}
		})
	}
}

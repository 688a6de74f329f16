// Package kernellog reads the Linux kernel's messages that something stops programs or takes their memory, from dmesg, the journal
// and syslog:
//
//	[812033.120361] Memory cgroup out of memory: Killed process 4120 (java) total-vm:8120331kB, anon-rss:512033kB, …
//	[ 8120.331203] INFO: task mysqld:4120 blocked for more than 120 seconds.
//	watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [java:4120]
//	TCP: request_sock_TCP: Possible SYN flooding on port 8080. Sending cookies.
//	nf_conntrack: table full, dropping packet
//
// Sources: mm/oom_kill.c, kernel/hung_task.c, kernel/watchdog.c, net/ipv4/tcp_input.c, net/netfilter/nf_conntrack_core.c and
// mm/page_alloc.c of Linux 2.6.32 to 6.18. The kernel limits the rate of most of them: they are counted as printed.
//
// and with them what conntrack -S prints (conntrack.go) and stacks of tasks as /proc/PID/stack gives them (tasks.go).
//
// None of these lines shows how slow anything was: they name what to examine, and the command that shows it. For a hung task the kernel also prints the
// stack below, which shows its wait.
package kernellog

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/kernelclass"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "kernellog",
	About: "the Linux kernel's log (dmesg, journal): processes it killed for memory, tasks that hang, CPUs that are stuck, full tables of the network; conntrack -S, and stacks of /proc/PID/stack",
	Match: matchHead,
	Parse: parseArtifact,
}

// kind is a kind of message.
type kind struct {
	id, title string
	has       []string // the line has all of them
	number    string   // words before a figure
	unit      string
	advice    string
}

var kinds = []kind{
	{"oom-cgroup", "killed because its container's memory limit was reached", []string{"Memory cgroup out of memory", "ill"}, "anon-rss:", "kB",
		"the container needs a higher limit, or its program less memory: a JVM's heap and more must fit into it (NativeMemoryTracking), Go's with GOMEMLIMIT; memory.events and memory.current show how it fills"},
	{"oom-host", "killed because the host's memory was used up", []string{"Out of memory", "ill", "process"}, "anon-rss:", "kB",
		"the host needs more memory, or fewer programs: free -m, and /proc/pressure/memory while it is slow"},
	{"hung-task", "tasks that hung in the kernel", []string{"INFO: task ", "blocked for more than "}, "blocked for more than ", "s",
		"tasks that hang mostly wait for a disk or a file server: iostat -x 1, and cat /proc/PID/stack of the task while it does"},
	{"soft-lockup", "CPUs that were stuck", []string{"soft lockup", "stuck for "}, "stuck for ", "s",
		"a CPU that is stuck was not run by the hypervisor, or the kernel did not let go of it: mpstat -P ALL 1 shows steal"},
	{"rcu-stall", "CPUs that the kernel waited for", []string{"rcu", "detected stall"}, "", "",
		"a CPU that stalls was not run by the hypervisor, or is stuck in the kernel: mpstat -P ALL 1 shows steal"},
	{"syn-queue", "connections beyond the queue of a listening socket", []string{"ossible SYN flooding on port "}, "on port ", "port",
		"the queue of connections was full, as where the service does not accept them in time: ss -ltn and nstat -az TcpExtListenOverflows show it while it is slow"},
	{"listen-queue", "connections dropped because the accept queue of a socket was full", []string{"sonewconn: ", "Listen queue overflow: "}, "", "",
		"the program takes connections too slowly, or its backlog is too short: netstat -Lan shows it while it is slow (FreeBSD); raise the backlog that the program gives to listen, and kern.ipc.soacceptqueue"},
	{"conntrack", "packets dropped because the table of connections was full", []string{"nf_conntrack: ", "table full"}, "", "",
		"raise net.netfilter.nf_conntrack_max, or track less; each dropped packet delays its connection by 200 ms or more, and a new one by 1 s"},
	{"page-allocation", "memory allocations in the kernel that failed", []string{"page allocation failure"}, "order:", "order",
		"memory was fragmented or used up: /proc/buddyinfo and /proc/vmstat show it"},
	{"overheated", "CPUs slowed down because of their temperature", []string{"cpu clock throttled"}, "", "",
		"CPUs that are too hot run slower: turbostat shows their clock"},
}

// kindOf returns the kind of a line, nil for other lines.
func kindOf(text string) *kind {
	for i := range kinds {
		all := true
		for _, s := range kinds[i].has {
			all = all && strings.Contains(text, s)
		}
		if all {
			return &kinds[i]
		}
	}
	return nil
}

// quick are words, one of which is in each line of interest, to skip other lines fast.
var quick = [][]byte{[]byte("ut of memory"), []byte("blocked for more than "), []byte("soft lockup"), []byte("detected stall"), []byte("SYN flooding"), []byte("nf_conntrack: "), []byte("sonewconn: "), []byte("page allocation failure"), []byte("cpu clock throttled")}

func hasMark(line []byte) bool {
	for _, q := range quick {
		if bytes.Contains(line, q) {
			return true
		}
	}
	return false
}

func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, []byte("insert_failed")) || bytes.Contains(head, []byte("wait_bit_killable+0x")) || bytes.Contains(head, []byte("nfs_wait_on_request+0x")) {
		for l := range bytes.Lines(head) {
			text := string(bytes.TrimSpace(l[:min(len(l), 1024)]))
			if isConntrack(text) || frameOf(text) != "" && (strings.Contains(text, "wait_bit_killable+0x") || strings.Contains(text, "nfs_wait_on_request+0x")) {
				return format.Sure
			}
		}
	}
	if !hasMark(head) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if len(l) < 4096 && hasMark(l) && kindOf(string(l)) != nil && ofKernel(string(l)) {
			return format.Sure
		}
	}
	return format.No
}

// ofKernel says whether a line is the kernel's own and not a program's quotation: before the message there are only the time since boot,
// the prefix of syslog, and the subsystem.
func ofKernel(text string) bool {
	text = strings.TrimSpace(text)
	if i := strings.Index(text, "kernel: "); i >= 0 && i < 100 {
		return true
	}
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']')
		return end > 0 && end < 40
	}
	for _, s := range []string{"Memory cgroup out of memory", "Out of memory: ", "INFO: task ", "watchdog: ", "BUG: soft lockup", "rcu: ", "INFO: rcu", "TCP: ", "nf_conntrack: ", "sonewconn: "} {
		if strings.HasPrefix(text, s) {
			return true
		}
	}
	return false
}

// found is the lines of a kind.
type found struct {
	*kind
	times int64
	most  float64
	who   string // the first
	line  int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var all []*found
	by := make(map[string]*found)
	limit, limitLine := 0., int64(0) // kB, of the group that ran out of memory
	var hung hang
	var broken *found
	var tracked conntrack
	var looks tasks
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		text := string(l.Text[:min(len(l.Text), 4096)])
		if strings.Contains(text, "memory: usage ") && strings.Contains(text, ", limit ") {
			if v, ok := parseFigureAfter(text, ", limit "); ok && v > 0 && v < 1<<50 {
				limit, limitLine = v, l.Number
			}
			return true
		}
		if broken != nil { // a terminal broke the line before it told how often
			if n, ok := occurrences(text); ok {
				broken.times += n - 1
			}
			broken = nil
		}
		if !hasMark(l.Text) {
			bare := strings.TrimSpace(text)
			if !hung.in && (looks.addLine(bare, l.Number) || tracked.addLine(bare, l.Number)) {
				return true
			}
			hung.addFrame(text)
			return true
		}
		k := kindOf(text)
		if k == nil {
			return true
		}
		x := by[k.id]
		if x == nil {
			x = &found{kind: k, line: l.Number, who: whoOf(text)}
			by[k.id] = x
			all = append(all, x)
		}
		x.times++
		if k.id == "listen-queue" {
			if n, ok := occurrences(text); ok {
				x.times += n - 1
			} else {
				broken = x
			}
		}
		hung.beginTask(k.id == "hung-task", l.Number)
		if v, ok := parseFigureAfter(text, k.number); ok && v >= x.most && v < 1e15 {
			x.most = v
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0 || tracked.sums != nil || looks.away > 0, "the log", "kernellog: it has no line about memory, hung tasks or dropped packets"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "the kernel's log", Error: evidence.Unanchored}
	host := b.Subject(evidence.Subject{Kind: evidence.Host})
	t := evidence.Table{Title: "the kernel's log", Columns: []string{"", "times", "at most", "the first"}}
	for _, x := range all {
		most := ""
		switch {
		case x.most == 0:
		case x.unit == "kB":
			most = fmt.Sprintf("%.0f MiB", x.most/1024)
		case x.unit == "s":
			most = fmt.Sprintf("%.0f s", x.most)
		default:
			most = fmt.Sprintf("%s %.0f", x.unit, x.most)
		}
		t.Rows = append(t.Rows, []string{x.title, strconv.FormatInt(x.times, 10), most, x.who})
		b.FactAt(host, evidence.FactKernelSaid, x.id, float64(x.times), x.line)
		b.Warnf(x.line, "the kernel's log, %s: %s (%s)", format.Count(x.times, "time", "times"), x.title, x.advice)
	}
	hung.beginTask(false, 0)
	for i, n := range hung.waits {
		if n > 0 {
			b.FactAt(host, evidence.FactKernelSaid, hungFor[i].said, float64(n), hung.lines[i])
		}
	}
	if len(all) > 0 {
		b.Table(t)
	}
	tracked.emitCounts(b)
	looks.emitWaits(b, host)
	if limit > 0 {
		b.Warnf(limitLine, "the limit that was reached is %.0f MiB", limit/1024)
	}
	return nil
}

// occurrences reads "(19 occurrences)", how often a message of FreeBSD's kernel stands for.
func occurrences(text string) (n int64, ok bool) {
	before, _, found := strings.Cut(text, " occurrences)")
	digits := before[strings.LastIndexByte(before, '(')+1:]
	n, err := strconv.ParseInt(digits, 10, 32)
	return n, found && err == nil && n > 0
}

// hungFor are the reasons of hung tasks, more precise ones first.
var hungFor = [...]struct{ said, mechanism string }{
	{evidence.KernelSaidHungSync, evidence.KernelFsync},
	{evidence.KernelSaidHungReclaim, evidence.KernelReclaim},
	{evidence.KernelSaidHungDisk, evidence.KernelDisk},
	{evidence.KernelSaidHungDisk, evidence.KernelThrottled},
}

// hang is the reasons of hung tasks, from the stacks below the kernel's messages.
type hang struct {
	in     bool
	at     int64
	frames int
	sure   int
	set    kernelclass.Set
	unsure kernelclass.Set // of frames behind question marks
	waits  [len(hungFor)]int
	lines  [len(hungFor)]int64
}

// freeing are functions in which the kernel's own thread frees memory: a task that frees its own has another below them.
var freeing = []string{"balance_pgdat", "kswapd", "kswapd_shrink_node"}

// journalCommit is the function in which the journal's own thread puts a transaction on the disk: what other tasks wait for in jbd2_log_wait_commit.
const journalCommit = "jbd2_journal_commit_transaction"

// mostFrames bounds a stack.
const mostFrames = 64

// beginTask ends the stack of the task before, and begins that of another one.
func (h *hang) beginTask(task bool, line int64) {
	if h.in && h.frames > 0 {
		if h.sure == 0 { // a kernel without frame pointers is sure of none of its frames
			h.set = h.unsure
		}
		m := h.set.Mechanism()
		for i, x := range hungFor {
			if x.mechanism == m {
				if h.waits[i]++; h.lines[i] == 0 {
					h.lines[i] = h.at
				}
				break
			}
		}
	}
	h.in, h.at, h.frames, h.sure, h.set, h.unsure = task, line, 0, 0, 0, 0
}

// addFrame adds a line of a stack: "[<ffffffff817203fd>] io_schedule+0x9d/0x140". It skips frames
// with a question mark, which may be left from earlier calls.
func (h *hang) addFrame(text string) {
	i := strings.Index(text, "+0x")
	if !h.in || i < 0 || h.frames == mostFrames {
		return
	}
	h.frames++
	name := text[:i]
	function := name[strings.LastIndexAny(name, " \t](")+1:]
	is := kernelclass.Of(function) | kernelclass.Of(calledFrom(name))
	if slices.Contains(freeing, function) {
		is |= kernelclass.Of("try_to_free_pages")
	}
	if function == journalCommit {
		is |= kernelclass.Of("jbd2_log_wait_commit")
	}
	if strings.Contains(name, "? ") {
		h.unsure |= is
		return
	}
	h.sure++
	h.set |= is
}

// calledFrom returns the function that a line of ARM's stacks names before its caller: "[<80299f54>] (vfs_fsync) from [<80299f98>] (do_fsync+0x44/0x78)", and
// "vfs_fsync from do_fsync+0x44/0x78" since Linux 5.16. "" if the line is of another kind.
func calledFrom(text string) string {
	before, _, ok := strings.Cut(text, " from ")
	if !ok {
		return ""
	}
	before = strings.TrimSuffix(before, ")")
	return before[strings.LastIndexAny(before, " \t(")+1:]
}

// parseFigureAfter reads the figure behind words.
func parseFigureAfter(text, words string) (float64, bool) {
	if words == "" {
		return 0, false
	}
	_, rest, ok := strings.Cut(text, words)
	n := 0
	for n < len(rest) && n < 15 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseFloat(rest[:n], 64)
	return v, ok && err == nil
}

// mostName bounds the name of a process; the kernel's has 15 bytes.
const mostName = 32

// whoOf returns the process that a line names, "" none.
func whoOf(text string) string {
	for _, x := range [][3]string{{"rocess ", "(", ")"}, {"INFO: task ", "", ":"}, {"stuck for ", "[", ":"}} {
		_, rest, ok := strings.Cut(text, x[0])
		if !ok {
			continue
		}
		if x[1] != "" {
			if _, rest, ok = strings.Cut(rest, x[1]); !ok {
				continue
			}
		}
		name, _, ok := strings.Cut(rest, x[2])
		if ok && len(name) <= mostName {
			return strings.ToValidUTF8(name, "?")
		}
	}
	return ""
}

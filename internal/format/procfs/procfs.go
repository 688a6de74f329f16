// Package procfs reads Linux's figures of a host and its processes under /proc,
// recorded as text several times a second. An archive is a series of files, each
// under a line with its name and the moment when it was read:
//
//	-- 1763689985000000000 /proc/stat --
//	cpu  114906 9935 31800 620455 1146 0 869 2000 0 0
//	…
//	-- 1763689985000150000 /proc/4711/stat --
//	4711 (gateway) S 1 …
//
// The number is the time since the epoch, in ns (date +%s%N); one of fewer than
// 18 digits is taken for µs, ms or s by its size. Where one program writes many
// files at once, the moment may stand alone and the files follow under the
// headers that tail and head print. This makes such an archive, of a process 4711
// and of all others beside it:
//
//	for i in $(seq 40); do
//		echo "-- $(date +%s%N) --"
//		tail -n +1 /proc/stat /proc/pressure/cpu /proc/4711/stat /proc/[0-9]*/stat
//		sleep .25
//	done > host.txt 2>/dev/null
//
//	-- 1763689985000000000 --
//	==> /proc/stat <==
//	cpu  114906 …
//
// grep with several files puts the name of each before its lines ("grep -H . /sys/fs/cgroup/*/memory.pressure").
//
// The output of date(1) is a moment, too. Files without moments, as people paste them into tickets, are successive readings: a
// file that occurs again begins the next reading. /proc/uptime gives the time between them, or else the CPU time counted in
// /proc/stat. /proc/stat, vmstat and meminfo need no header. In a copied shell session "$ cat FILE" and
// "root@host:~# cat FILE" are headers, and any other command ends the file above it. A control group without a process is
// taken for that of a process about which nothing else is known.
//
// The archive is about the first process that it names; the others are its neighbours.
//
// The package reads these files of Linux 2.6.33 to 6.18, from proc(5), https://docs.kernel.org/filesystems/proc.html,
// https://docs.kernel.org/accounting/psi.html and
// https://docs.kernel.org/admin-guide/cgroup-v2.html:
//
//	/proc/stat                       processors, steal, runnable threads, boot time
//	/proc/pressure/{cpu,memory,io}   time in which tasks waited for them (4.20 on), irq (6.1 on)
//	/proc/{loadavg,vmstat,meminfo,buddyinfo}
//	/proc/diskstats                  requests, times and queue of each disk
//	/proc/softirqs, /proc/net/softnet_stat, /proc/net/dev (/proc/PID/net/dev)
//	/proc/sys/kernel/{hostname,osrelease}, other sysctls as facts: /proc/sys/vm/swappiness
//	/proc/PID/stat                   processor time, faults, threads, start, size, time blocked
//	/proc/PID/status                 VmRSS, VmSwap, THP_enabled, Cpus_allowed_list
//	/proc/PID/schedstat              time ready and not run, of the main thread only
//	/proc/PID/task/TID/{schedstat,status}  the same and context switches of every thread: summed by process
//	/proc/PID/task/TID/comm          its name: the time it ran is also summed by names without their numbers
//	/proc/PID/io                     bytes and calls of reading and writing
//	/proc/PID/smaps_rollup           huge pages it has
//	/proc/PID/environ                settings of runtimes (GOGC, GOMEMLIMIT); the service's name in telemetry
//	/proc/PID/cmdline                shown by inspect
//	/proc/PID/fd/tcp                 no file: sock_diag(7) of its TCP sockets
//	/proc/PID/fd/{listen,unread}     no files: sock_diag(7) of listening sockets, and of connections to them
//	/proc/net/{netstat,tcp,tcp6}     and /proc/PID/net/…: drops, accept queues, connections with unread bytes
//	/proc/PID/cgroup                 ties these to a process:
//	/sys/fs/cgroup/…/{cpu.stat,cpu.max,io.stat,pids.current,*.pressure}
//	/sys/fs/cgroup/…/memory.{max,high,current,events,stat,swap.max,swap.current}
//	/sys/fs/cgroup/cpu/…/{cpu.stat,cpu.cfs_quota_us,cpu.cfs_period_us}, cpuacct/…/cpuacct.{usage,stat}
//	/sys/fs/cgroup/memory/…/memory.{limit_in_bytes,soft_limit_in_bytes,usage_in_bytes,failcnt,stat}
//	/sys/fs/cgroup/blkio/…/blkio.throttle.{io_service_bytes,io_serviced}
//	/sys/kernel/mm/transparent_hugepage/…  settings of huge pages
//	/sys/devices/system/node/online
//
// An environment and a command line may hold zero bytes, as the kernel has them,
// or a line for each. A variable that is absent from an environment has its
// default, which is a fact; without that file it is unknown.
//
// Where the figures mislead, or are coarser than they look:
//   - Times in /proc/stat and /proc/PID/stat are in 1/100 s (USER_HZ) whatever
//     the kernel's own tick is. A process's is exact but rounded down; a host's is
//     sampled by the tick on most kernels, so that short work between two ticks is
//     charged to the task that the tick finds.
//   - A guest's time is also in user time: it is not added again. iowait may
//     decrease; such readings are left out.
//   - Steal is what the hypervisor gave to others: neither busy nor idle.
//   - A file is read a little after the moment that stands above it.
//   - rss in /proc/PID/stat is in pages, taken for 4 KiB; VmRSS goes before it. Blocks
//     in buddyinfo are of so many pages, too.
//   - Zones of memory are summed up: kernels before 4.8 count each zone apart
//     (pgscan_direct_normal), later ones give the sum.
//   - Partitions and composed disks (dm, md) are not added to disks.
//   - A limit of a cgroup also holds for those below it: the lowest of a process's own cgroup
//     and its ancestors is given, and throttling as counted by the cgroup with the lowest quota.
//   - An environment is that of the start; later changes by the program do not show.
//
// Counters become rates. A value of a series holds until the time of the next; the last value repeats the one before it
// and marks its end.
//
// The package's opinion: counters are better than averages that other programs made
// (the avg10 of pressure files is read only of memory that was looked at once), and the whole host is worth
// recording, because the CPUs are always taken by other processes than the slow one.
package procfs

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a series of /proc files.
var Format = format.Format{
	Name:  "procfs",
	About: "Linux /proc files read over time, '-- <unix ns> /proc/… --' above each, or as head and tail print them",
	Whole: true,
	Joins: true,
	Match: matchHead,
	Parse: parseArtifact,
}

func matchHead(head []byte) format.Confidence {
	first := true // nothing but moments came before: logs of crashes also have lines of meminfo
	for rest := head; len(rest) > 0; {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if _, path, ok := parseHeader(line); ok && kernelFile(path) {
			return format.Sure
		}
		if command, ok := shellCommand(line); ok {
			if slices.ContainsFunc(printedFiles(command), kernelFile) {
				return format.Sure
			}
			rest = more
			continue
		}
		if path, text, ok := grepLine(line); ok && len(text) > 0 && kernelFile(path) {
			return format.Sure
		}
		if first && isQuota(line) && beginsCPUStat(more) { // cat cpu.max cpu.stat
			return format.Sure
		}
		if path, ok := tailHeader(line); ok && kernelFile(path) || first && fileOfLine(line) != "" && len(more) > 0 {
			return format.Sure
		}
		if _, ok := format.Dated(line); !ok && len(line) > 0 {
			first = false
		}
		rest = more
	}
	return format.No
}

func kernelFile(path []byte) bool {
	if bytes.HasSuffix(path, []byte("/stack")) { // package kernellog's
		return false
	}
	for _, dir := range []string{"/proc/", "/sys/fs/cgroup/", hugePages, nodes} {
		if bytes.HasPrefix(path, []byte(dir)) {
			return true
		}
	}
	return false
}

const (
	hugePages = "/sys/kernel/mm/transparent_hugepage/"
	nodes     = "/sys/devices/system/node/"
)

// parseHeader reads "-- <digits> <path> --" and "-- <digits> --".
func parseHeader(line []byte) (at int64, path []byte, ok bool) {
	line, ok = bytes.CutPrefix(line, []byte("-- "))
	if !ok {
		return 0, nil, false
	}
	line, ok = bytes.CutSuffix(line, []byte(" --"))
	if !ok {
		return 0, nil, false
	}
	digits, path, _ := bytes.Cut(line, []byte(" "))
	at, ok = format.ParseDigits(digits)
	return at, path, ok
}

// tailHeader reads "==> <path> <==".
func tailHeader(line []byte) ([]byte, bool) {
	line, ok := bytes.CutPrefix(line, []byte("==> "))
	if !ok {
		return nil, false
	}
	return bytes.CutSuffix(line, []byte(" <=="))
}

// grepLine reads "<path>:<line of the file>".
func grepLine(line []byte) (path, text []byte, ok bool) {
	if len(line) == 0 || line[0] != '/' || !kernelFile(line) {
		return nil, nil, false
	}
	path, text, ok = bytes.Cut(line, []byte(":"))
	return path, text, ok && len(text) > 0 && len(path) <= maxPath && !bytes.ContainsAny(path, " \t")
}

// longestPrompt bounds the length of a prompt in a session of a shell.
const longestPrompt = 80

// shellCommand returns the command behind a prompt: "$ ", "# ", "user@host:~$ ", "[root@host ~]# ". Behind a bare "# " only
// commands that print a file count: other text is a comment.
func shellCommand(line []byte) (command []byte, ok bool) {
	i := bytes.IndexAny(line[:min(len(line), longestPrompt)], "$#")
	if i < 0 || i+1 >= len(line) || line[i+1] != ' ' {
		return nil, false
	}
	prompt, command := line[:i], bytes.TrimSpace(line[i+2:])
	switch {
	case i == 0 && line[0] == '$':
		return command, true
	case i == 0:
		return command, len(printedFiles(command)) > 0
	}
	return command, bytes.IndexByte(prompt, '@') > 0 && bytes.Count(prompt, []byte(" ")) <= 1
}

// mostPrinted bounds the files that one command prints.
const mostPrinted = 16

// printedFiles returns the files that a command prints whole, in their order; nil for any other
// command. It knows "cat FILE...", and several of these one after the other, with others that
// print a time.
func printedFiles(command []byte) (files [][]byte) {
	for _, part := range bytes.FieldsFunc(command, func(r rune) bool { return r == ';' || r == '&' }) {
		f := bytes.Fields(part)
		if len(f) > 1 && string(f[0]) == "sudo" {
			f = f[1:]
		}
		if len(f) == 0 || string(f[0]) == "date" || string(f[0]) == "sleep" {
			continue
		}
		if len(f) < 2 || string(f[0]) != "cat" {
			return nil
		}
		for _, path := range f[1:] {
			if path[0] != '/' || len(files) == mostPrinted {
				return nil
			}
			files = append(files, path)
		}
	}
	return files
}

// Limits of what is kept: about 100 MB.
const (
	maxProcesses = 4096
	maxPoints    = 4 << 20
	maxThreads   = 1 << 16
	maxCgroups   = 1024
	maxSettings  = 1024
	maxDisks     = 128 // and interfaces, and addresses that are listened at
	maxPath      = 1024
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := newParser(b)
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(l)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, format.ErrCut) {
		return err
	}
	if err != nil {
		b.Warnf(p.number, "the recording is incomplete after this line: %v", err)
	}
	if p.strange == p.number && p.damaged > 0 {
		p.damaged-- // the last line is not damaged but unfinished
		err = format.ErrCut
	}
	if err != nil {
		b.Cut()
	}
	p.closeSection()
	p.ownerOfGroups()
	if p.host.list == nil && len(p.processes) == 0 && p.memory.line == 0 && len(p.settings.list) == 0 {
		return errors.New("procfs: it holds none of the files unstall needs: record /proc/stat, /proc/pressure/cpu and /proc/PID/stat, each below a line '-- <unix ns> /proc/stat --'")
	}
	p.emitAll()
	return nil
}

// reading is a value and where it was read.
type reading struct {
	value float64
	line  int64
}

// parser reads one archive.
type parser struct {
	coming  [][]byte // files that the command prints after this one
	single  bool     // this file has one line
	grepped string   // the file that grep named before the last line
	current []byte   // this file
	fresh   bool     // no line of it has been read yet

	b      *evidence.Builder
	host   tracks
	name   string // of the host
	memory reading
	cpus   int
	wide   int   // columns of a cpu line
	btime  int64 // s since the epoch

	settings   choices
	swap       [2]reading // total and free, of the section
	processors perCPU
	disks      []string
	network    map[string]bool

	processes []*process
	byPID     map[int]*process
	threads   int
	cgroups   map[string]*cgroup

	now       int64  // ns: the moment above the section
	stamped   bool   // a moment was read
	early     bool   // files came before the first moment
	headed    bool   // a file had a header
	firstName string // that cpu.stat without a header began with
	rounds    rounds
	unit      int64 // ns: the resolution of the coarsest moment
	reader    func(p *parser, line []byte) bool
	subject   *process        // of the section
	group     *cgroup         // of the section
	online    int             // processors named in the section
	tid       int64           // of the section
	switches  [3]int64        // of the section
	pid       int             // of the section
	pressures [2]string       // of the section: the series of a pressure file
	path      string          // of the section, for readers that need it
	sums      []sum           // of the section
	columns   []string        // of the section, if a line names the columns of the next
	listening map[string]bool // addresses of the section
	addresses map[string]bool // that are listened at, of the whole archive
	end       func(p *parser) // of the section: emits what its lines say together

	number     int64 // of the line
	sections   int64
	points     int
	strained   []strained
	pressed    []strained      // of all that some or all wait for
	quotaShown map[string]bool // control groups, by path
	ignored    int64           // lines, or whole files, that are known and not needed
	damaged    int64           // lines not understood
	strange    int64           // the last of them
	firstBad   int64
	backwards  int64 // files older than the one before
	lastBack   int64 // the last of them
	firstBack  int64
	shrunk     int64 // counters that went back
	firstFall  int64
	dropped    int64 // readings beyond the limits
}

func newParser(b *evidence.Builder) *parser {
	return &parser{b: b, unit: 1, byPID: make(map[int]*process), cgroups: make(map[string]*cgroup)}
}

func (p *parser) parseLine(l format.Line) {
	p.number = l.Number
	if at, path, ok := parseHeader(l.Text); ok {
		p.closeSection()
		p.setTime(at)
		p.openSection(path)
		return
	}
	if path, ok := tailHeader(l.Text); ok {
		p.closeSection()
		p.openSection(path)
		return
	}
	if path, text, ok := grepLine(l.Text); ok {
		if string(path) != p.grepped {
			p.closeSection()
			p.openSection(path)
			p.grepped = string(path)
		}
		l.Text = text
	} else if p.grepped != "" {
		p.closeSection()
		p.reader, p.grepped = nil, ""
	}
	if command, ok := shellCommand(l.Text); ok {
		p.closeSection()
		p.coming = printedFiles(command)
		p.openNext()
		return
	}
	if at, ok := format.Dated(l.Text); ok {
		p.closeSection()
		p.setTime(at)
		p.reader = nil
		if p.fresh { // the time stands before what the same command prints
			p.coming = append([][]byte{p.current}, p.coming...)
		}
		p.openNext()
		return
	}
	if path := fileOfLine(l.Text); path != "" && !p.headed && !p.goesOn(l.Text) {
		p.closeSection()
		p.openSection([]byte(path))
		p.headed = false
		if path == cpuStat {
			p.firstName = string(l.Text[:bytes.IndexByte(l.Text, ' ')])
		}
	}
	if !p.headed && p.reader == nil && isQuota(l.Text) {
		p.closeSection()
		p.openSection([]byte("/sys/fs/cgroup/cpu.max"))
		p.headed, p.single = false, true
	}
	switch {
	case len(l.Text) == 0:
	case p.reader == nil:
		p.ignored++
	case p.now == 0 || l.Long:
		p.countUnparsed()
	case !p.reader(p, l.Text):
		p.countUnparsed()
	}
	p.fresh = p.fresh && len(l.Text) == 0
	if p.single && len(l.Text) > 0 {
		p.closeSection()
		p.openNext()
	}
}

// openNext opens the next file that a command prints, if there is any.
func (p *parser) openNext() {
	p.single, p.fresh = false, false
	if len(p.coming) == 0 {
		p.reader = nil
		return
	}
	path := p.coming[0]
	p.coming = p.coming[1:]
	p.openSection(path)
	p.current, p.fresh = path, true
	p.single = oneLine[string(path[bytes.LastIndexByte(path, '/')+1:])]
}

// oneLine are files of one line: the line after it is the next file that the command prints.
var oneLine = map[string]bool{"cpu.max": true, "cpu.cfs_quota_us": true, "cpu.cfs_period_us": true, "cpu.shares": true, "cpu.weight": true, "memory.max": true, "memory.high": true, "memory.current": true,
	"memory.limit_in_bytes": true, "memory.usage_in_bytes": true, "memory.failcnt": true, "pids.current": true, "cpuacct.usage": true, "loadavg": true, "uptime": true}

func (p *parser) countUnparsed() {
	p.damaged++
	p.strange = p.number
	if p.firstBad == 0 {
		p.firstBad = p.number
	}
}

// setTime takes the time of a header: ns, or by its size µs, ms or s.
func (p *parser) setTime(at int64) {
	unit := int64(1)
	for at > 0 && at < 1e17 && unit < 1e9 {
		at *= 1000
		unit *= 1000
	}
	if at < 1e17 || at > 4e18 {
		at = 0 // not a time of this century
		p.countUnparsed()
	}
	if p.now = at; at != 0 {
		p.unit = max(p.unit, unit)
		if !p.stamped {
			p.dropUntimed()
		}
	}
}

// parseFields reads whole numbers separated by blanks into out and returns how many there were. It
// stops at the first that is none.
func parseFields(s []byte, out []int64) (n int) {
	for n < len(out) {
		s = bytes.TrimLeft(s, " \t")
		i := bytes.IndexAny(s, " \t")
		if i < 0 {
			i = len(s)
		}
		v, ok := format.ParseDigits(s[:i])
		if !ok {
			return n
		}
		out[n] = v
		n++
		s = s[i:]
	}
	return n
}

// cutKey splits "key value" and "Key:\tvalue".
func cutKey(line []byte) (key, value []byte, ok bool) {
	i := bytes.IndexAny(line, " \t:")
	if i <= 0 {
		return nil, nil, false
	}
	return line[:i], bytes.TrimLeft(line[i:], ": \t"), true
}

// parseKiB reads "1234 kB" as bytes.
func parseKiB(value []byte) (float64, bool) {
	digits, ok := bytes.CutSuffix(value, []byte(" kB"))
	if !ok {
		return 0, false
	}
	n, ok := format.ParseDigits(digits)
	return float64(n) * 1024, ok
}

func cleanText(s []byte, limit int) string {
	return strings.ToValidUTF8(string(s[:min(len(s), limit)]), "")
}

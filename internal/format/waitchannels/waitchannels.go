// Package waitchannels reads lists of tasks with what they wait for in the kernel, as ps prints them on request:
//
//	    PID     TID    PPID USER        COMMAND         S WCHAN                        ps -eLo pid,tid,ppid,user:11,comm,state,wchan
//	3862146 3899178       1 root        gdn             D xfs_reclaim_inodes_ag
//	19513 D vfs_fsync_range                  [nfsd]                                    ps -eo pid,state,wchan:32,cmd | awk '$2 ~ /D/'
//	F S   UID     PID    PPID  C PRI  NI ADDR SZ WCHAN  TTY          TIME CMD          ps -el, which cuts its names off
//	0 D  1000    4711    4700  0  80   0 - 91211 rpc_wa ?        00:00:04 httpd
//
// https://man7.org/linux/man-pages/man1/ps.1.html, procps 3 and 4. A wait channel is the innermost function of the kernel that is not the scheduler's own. Its opinion:
// of tasks whose sleep nothing interrupts (D) it says what they wait for, and threads of the kernel that write and free memory in the background are no one's waits.
package waitchannels

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/kernelclass"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a list.
var Format = format.Format{
	Name:  "wait-channels",
	About: "what tasks wait for in the kernel, at one look: ps with its columns state and wchan",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept and shown.
const (
	mostLine    = 4096
	mostColumns = 40
	mostTasks   = 100_000
	mostName    = 60
	mostShown   = 12
	leastBare   = 2 // rows of a list without a heading
	leastAway   = 3 // tasks that wait for files of others: one or two may be in the middle of a call (Poisson: where 0.3 are, three at once come by chance in 0.4 %)
)

// awaitsFiles is what tasks that wait for a file server, or for a program that serves files (FUSE), wait for: none of the kernel's mechanisms.
const awaitsFiles = "a file server"

// channels are wait channels that tell what is waited for, beyond the functions of package kernelclass. Sources: fs/xfs/xfs_icache.c,
// fs/xfs/xfs_log.c, fs/jbd2 and mm/vmscan.c of Linux 3.10 to 6.18; module/zfs/txg.c of OpenZFS.
var channels = map[string]string{
	"rpc_wait_bit_killable": awaitsFiles, "request_wait_answer": awaitsFiles, // and others of kernelclass: here for names that are cut off
	"xfs_reclaim_inodes_ag": evidence.KernelReclaim, "xfs_reclaim_inode": evidence.KernelReclaim, "shrink_inactive_list": evidence.KernelReclaim, "congestion_wait": evidence.KernelReclaim,
	"wait_iff_congested": evidence.KernelReclaim, "too_many_isolated": evidence.KernelReclaim,
	"jbd2_log_wait_commit": evidence.KernelFsync, "jbd2_complete_transaction": evidence.KernelFsync, "xfs_log_force_lsn": evidence.KernelFsync, "xfs_log_force_seq": evidence.KernelFsync,
	"_xfs_log_force_lsn": evidence.KernelFsync, "__xfs_log_force_lsn": evidence.KernelFsync, "xlog_wait": evidence.KernelFsync, "zil_commit": evidence.KernelFsync, "txg_wait_synced": evidence.KernelFsync,
	"io_schedule": evidence.KernelDisk,
}

// cutTo is how long the names of ps -el are.
const cutTo = 6

// mechanismAt returns what a task waits for by its wait channel, "" where that says nothing.
func mechanismAt(channel string) string {
	if m, ok := channels[channel]; ok {
		return m
	}
	if len(channel) == cutTo {
		found := ""
		for name, m := range channels {
			if strings.HasPrefix(name, channel) {
				if found != "" && found != m {
					return ""
				}
				found = m
			}
		}
		return found
	}
	if kernelclass.AwaitsFileServer(channel) {
		return awaitsFiles
	}
	switch m := kernelclass.Of(channel).Mechanism(); m {
	case evidence.KernelReclaim, evidence.KernelFsync, evidence.KernelDisk:
		return m
	}
	return ""
}

// inBackground are beginnings of names of the kernel's threads that write, sync and free memory for all, in no one's request.
var inBackground = []string{"kswapd", "kcompactd", "khugepaged", "ksoftirqd", "kworker", "jbd2", "xfsaild", "xfs-", "flush-", "txg_", "z_", "arc_", "spl_", "loop", "md", "dm-", "dmcrypt", "btrfs-", "kjournald", "pdflush", "bch-", "scsi_", "rcu"}

// layout says where a row has what.
type layout struct {
	columns, state, channel, name int
	fromEnd                       bool // the command, of several words, is not the last column
}

// layoutOf reads a heading.
func layoutOf(f []string) (l layout, ok bool) {
	if len(f) < 3 || len(f) > mostColumns {
		return l, false
	}
	l = layout{columns: len(f), state: -1, channel: -1, name: -1}
	for i, c := range f {
		switch c {
		case "S", "STAT", "STATE", "ST":
			l.state = i
		case "WCHAN":
			l.channel = i
		case "COMMAND", "CMD", "ARGS", "COMM":
			l.name = i
		default:
			if strings.HasSuffix(c, "WCHAN") || strings.HasPrefix(c, "WCHAN") || strings.Contains(c, "WCHAN-") {
				l.channel = i
			}
		}
	}
	l.fromEnd = l.name != len(f)-1
	return l, l.state >= 0 && l.channel >= 0
}

// task is a row.
type task struct {
	channel, name string
	asleep        bool // uninterruptibly
	line          int64
}

// isAsleep says whether a word is the state of an uninterruptible sleep.
func isAsleep(s string) bool {
	return strings.HasPrefix(s, "D") && len(s) <= 5 && strings.Trim(s[1:], "<NLsl+") == ""
}

func (l *layout) parseRow(f []string) (t task, ok bool) {
	if len(f) < l.columns {
		return t, false
	}
	at := func(i int) string {
		if l.fromEnd && i > l.name {
			return f[len(f)-(l.columns-i)]
		}
		return f[i]
	}
	state := at(l.state)
	t = task{channel: at(l.channel), asleep: isAsleep(state)}
	if l.name >= 0 {
		t.name = f[l.name]
	}
	return t, state != "" && strings.ContainsRune("DRSTtXZIW", rune(state[0])) && len(state) <= 5
}

// parseBare reads a row of a list whose heading a filter has left out: a number, and a state beside a wait channel that is known.
func parseBare(f []string) (t task, ok bool) {
	if len(f) < 3 {
		return t, false
	}
	if _, err := strconv.ParseUint(f[0], 10, 32); err != nil {
		return t, false
	}
	for i := 1; i < len(f); i++ {
		if !isAsleep(f[i]) {
			continue
		}
		t = task{asleep: true, name: f[len(f)-1]}
		if i+1 < len(f) && isChannel(f[i+1]) {
			t.channel = f[i+1]
			if i+2 < len(f) {
				t.name = f[i+2]
			} else {
				t.name = f[i-1]
			}
			return t, true
		}
		if i >= 2 && isChannel(f[i-1]) {
			t.channel = f[i-1]
			return t, true
		}
	}
	return t, false
}

// isChannel says whether a word may be a function of the kernel.
func isChannel(s string) bool {
	return len(s) >= cutTo && len(s) <= 64 && strings.Contains(s, "_") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}

func matchHead(head []byte) format.Confidence {
	if !bytes.Contains(head, []byte("WCHAN")) && !bytes.Contains(head, []byte(" D")) {
		return format.No
	}
	var l *layout
	bare, known := 0, 0
	for row := range bytes.Lines(head) {
		if len(row) > mostLine || l == nil && !bytes.Contains(row, []byte("WCHAN")) && !bytes.Contains(row, []byte(" D")) {
			continue
		}
		f := strings.Fields(string(row))
		if x, ok := layoutOf(f); ok {
			l = &x
		} else if l != nil {
			if _, ok := l.parseRow(f); ok {
				return format.Sure
			}
		} else if t, ok := parseBare(f); ok {
			if bare++; mechanismAt(t.channel) != "" {
				known++
			}
			if bare >= leastBare && known > 0 {
				return format.Sure
			}
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var l *layout
	var all []task
	dropped := int64(0)
	err := a.Lines(func(row format.Line) bool {
		if row.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(row.Text) > mostLine {
			return true
		}
		f := strings.Fields(string(row.Text))
		var t task
		x, ok := layoutOf(f)
		if ok {
			l = &x
			return true
		}
		if l != nil {
			t, ok = l.parseRow(f)
		} else {
			t, ok = parseBare(f)
		}
		if !ok {
			return true
		}
		if len(all) == mostTasks {
			dropped++
			return true
		}
		t.line = row.Number
		all = append(all, t)
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0, "the list", "wait-channels: no task in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	emitWaits(b, all)
	if dropped > 0 {
		b.Warnf(0, "tasks beyond the first %d: %d", mostTasks, dropped)
	}
	return nil
}

// channel is all tasks that wait at one.
type channel struct {
	name string
	n    int
	line int64
}

func emitWaits(b *evidence.Builder, all []task) {
	by := make(map[string]*channel)
	var order []*channel
	waits := make(map[string]int)     // by what is waited for
	most := make(map[string]*channel) // likewise
	asleep, background := 0, 0
	for _, t := range all {
		if !t.asleep {
			continue
		}
		name := strings.Trim(t.name, "[]")
		if slices.ContainsFunc(inBackground, func(s string) bool { return strings.HasPrefix(name, s) }) {
			background++
			continue
		}
		asleep++
		c := by[t.channel]
		if c == nil {
			c = &channel{name: strings.ToValidUTF8(t.channel[:min(len(t.channel), mostName)], "?"), line: t.line}
			by[t.channel] = c
			order = append(order, c)
		}
		c.n++
		if m := mechanismAt(t.channel); m != "" {
			waits[m]++
			if most[m] == nil || c.n > most[m].n {
				most[m] = c
			}
		}
	}
	host := b.Subject(evidence.Subject{Kind: evidence.Host})
	for _, m := range []string{evidence.KernelReclaim, evidence.KernelFsync, evidence.KernelDisk} {
		if c := most[m]; c != nil {
			b.FactAt(host, evidence.FactTasksWait+m, c.name, float64(waits[m]), c.line)
		}
	}
	if asleep > 0 {
		b.FactAt(host, evidence.FactTasksAsleep, "", float64(asleep), order[0].line)
	}
	if c := most[awaitsFiles]; c != nil && waits[awaitsFiles] >= leastAway && 2*waits[awaitsFiles] >= asleep {
		b.FactAt(host, evidence.FactTasksAwaitFiles, "", float64(waits[awaitsFiles]), c.line)
	}
	slices.SortStableFunc(order, func(x, y *channel) int { return y.n - x.n })
	t := evidence.Table{Title: "tasks whose sleep nothing interrupts, by what they wait for", Columns: []string{"", "tasks"}}
	for _, c := range order[:min(len(order), mostShown)] {
		t.Rows = append(t.Rows, []string{c.name, strconv.Itoa(c.n)})
	}
	t.Rows = append(t.Rows, []string{"threads of the kernel that work in the background", strconv.Itoa(background)}, []string{"all tasks of the list", strconv.Itoa(len(all))})
	b.Table(t)
}

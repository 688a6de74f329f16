// Package perfreport reads perf report and perf top: the part of the samples that each function has.
//
//	# Children      Self       Samples  Command          Shared Object             Symbol
//	    24.80%     0.00%             0  exe              [kernel.kallsyms]         [k] try_to_free_mem_cgroup_pages
//	    70.12%  php-fpm          [kernel.kallsyms]           [k] native_queued_spin_lock_slowpath           --no-children
//	    12.10%  [kernel]             [k] shrink_lruvec                                                      perf top
//	+  14.18%  php-fpm  [kernel.kallsyms]  [k] futex_wake                                                   its screen
//
// Source: tools/perf/ui/stdio/hist.c of Linux (https://github.com/torvalds/linux/tree/master/tools/perf), 3.7 to 6.18. --sort and --fields choose the
// columns; it reads one share or two (with a function's callees, and without), and the function behind the
// mark "[k]" or "[.]". Folded stacks (folded.go) and the text of async-profiler (asyncprofile.go) are read likewise.
//
// Where a listing misleads: a share is of all samples, which may be those of one process or of the whole host; and chains below a function
// repeat parts of it. The share of a mechanism of the kernel is that of its entry function with callees, if it is listed; else the sum of
// the own shares of its functions, and of those that they call where the callers of a function are unfolded below it.
package perfreport

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/kernelclass"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a listing.
var Format = format.Format{
	Name:  "perf-report",
	About: "shares of functions as perf report and perf top print them (Linux perf 3 to 6), folded stacks, and the text of async-profiler, of which the page of a report draws the flame graph",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine  = 4096
	mostRows  = 50_000
	mostName  = 160
	mostShown = 15
	leastRows = 2 // rows that identify a listing
)

func matchHead(head []byte) format.Confidence {
	if isFolded(head) || bytes.Contains(head, asyncTitle) {
		return format.Sure
	}
	if !bytes.Contains(head, []byte("[k] ")) && !bytes.Contains(head, []byte("[.] ")) {
		return format.No
	}
	n := 0
	for l := range bytes.Lines(head) {
		if len(l) > mostLine {
			continue
		}
		if _, ok := parseRow(string(l)); ok {
			if n++; n == leastRows {
				return format.Sure
			}
		}
	}
	return format.No
}

// row is a function with its shares, 0…1.
type row struct {
	all, self float64 // all: with callees; −1 unknown
	command   string
	function  string
	kernel    bool
	callers   []caller
	line      int64
}

// parseRow reads a line of the listing.
func parseRow(text string) (r row, ok bool) {
	mark, kernel := strings.Index(text, "[k] "), true
	if mark < 0 {
		mark, kernel = strings.Index(text, "[.] "), false
	}
	if mark < 0 {
		return r, false
	}
	f := strings.Fields(text[:mark])
	if len(f) > 0 && (f[0] == "+" || f[0] == "-") { // of its screen: what a row unfolds
		f = f[1:]
	}
	shares := 0
	r = row{all: -1, kernel: kernel}
	for shares < len(f) && shares < 2 {
		v, found := parseShare(f[shares])
		if !found {
			break
		}
		if shares == 1 {
			r.all = r.self
		}
		r.self = v
		shares++
	}
	if shares == 0 || r.all >= 0 && r.self > r.all+.001 {
		return r, false
	}
	f = f[shares:]
	if len(f) > 0 && isWholeNumber(f[0]) { // samples
		f = f[1:]
	}
	if len(f) > 1 {
		r.command = clipText(strings.Join(f[:len(f)-1], " "))
	}
	name := strings.TrimSpace(text[mark+len("[k] "):])
	name, _, _ = strings.Cut(name, "  ")
	r.function = clipText(strings.TrimSpace(name))
	return r, r.function != ""
}

// parseShare reads "24.80%".
func parseShare(s string) (float64, bool) {
	digits, ok := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(digits, 64)
	return v / 100, ok && err == nil && v >= 0 && v <= 100
}

func isWholeNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}

func clipText(s string) string { return strings.ToValidUTF8(s[:min(len(s), mostName)], "?") }

// families are prefixes of the kernel functions of a mechanism, for listings without shares of
// callees.
var families = []struct {
	mechanism string
	begins    []string
}{
	{evidence.KernelReclaim, []string{"shrink_", "do_shrink_slab", "isolate_lru_", "list_lru_count_one", "super_cache_count", "super_cache_scan", "get_scan_count", "mem_cgroup_iter", "prune_", "folio_referenced", "page_referenced", "lru_gen_", "kswapd"}},
	{evidence.KernelCompaction, []string{"compact_", "isolate_migratepages", "isolate_freepages", "split_map_pages", "pageblock_pfn_to_page", "get_pfnblock_flags_mask", "set_pfnblock_flags_mask", "clear_huge_page", "clear_subpage", "migrate_pages", "migrate_folio", "remove_migration_"}},
	{evidence.KernelFutex, []string{"futex_", "do_futex", "__x64_sys_futex", "sys_futex", "get_futex_", "drop_futex_", "__futex_", "wake_futex", "__unqueue_futex", "mark_wake_futex"}},
	{evidence.KernelSoftirq, []string{"__do_softirq", "handle_softirqs", "net_rx_action", "process_backlog", "__netif_receive_skb", "napi_", "ip_rcv", "tcp_v4_rcv", "nf_hook_slow", "ipt_do_table", "nft_do_chain"}},
}

// spins are functions that spin for a lock of the kernel.
var spins = []string{"native_queued_spin_lock_slowpath", "__pv_queued_spin_lock_slowpath", "_raw_spin_lock", "_spin_lock", "osq_lock", "rwsem_spin_on_owner", "mutex_spin_on_owner", "queued_read_lock_slowpath", "queued_write_lock_slowpath"}

func hasAnyPrefix(name string, with []string) bool {
	return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Mechanisms whose shares are reported, and the share from which spinning is.
var told = []string{evidence.KernelReclaim, evidence.KernelCompaction, evidence.KernelSoftirq, evidence.KernelFsync, evidence.KernelPageFault, evidence.KernelFutex}

const muchSpinning = .2

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var rows []row
	var whole stacks
	var text blocks
	dropped := int64(0)
	subject := b.Subject(evidence.Subject{Kind: evidence.Host})
	add := func(x folded, line int64) {
		if len(x.frames) > 1 {
			whole.addStack(x, line)
			b.Sample(sampleOf(b, subject, x, line))
		}
	}
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if done, line, ok := text.readLine(l.Text, l.Number); ok {
			add(done, line)
			return true
		}
		if x, ok := parseFolded(l.Text); ok && len(rows) == 0 {
			whole.addStack(x, l.Number)
			b.Sample(sampleOf(b, subject, x, l.Number))
			return true
		}
		if len(l.Text) > mostLine {
			return true
		}
		r, ok := parseRow(string(l.Text))
		switch {
		case !ok:
			if c, ok := parseCaller(string(l.Text)); ok && len(rows) > 0 && len(rows[len(rows)-1].callers) < mostCallers {
				rows[len(rows)-1].callers = append(rows[len(rows)-1].callers, c)
			}
		case len(rows) == mostRows:
			dropped++
		default:
			r.line = l.Number
			rows = append(rows, r)
		}
		return true
	})
	add(text.end())
	if err := format.EndReading(ctx, b, err, len(rows) > 0 || whole.number > 0, "the listing", "perfreport: no function with its share in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one profile", Error: evidence.Unanchored}
	if len(rows) == 0 {
		addTable(b, whole.emitStacks(b, subject))
		return nil
	}
	nested := slices.ContainsFunc(rows, func(r row) bool { return r.all >= 0 })
	for _, m := range told {
		part, at := shareOf(rows, m, nested)
		if part > 0 {
			b.FactAt(subject, evidence.FactProfileMechanism+m, strconv.FormatFloat(part, 'g', 4, 64), min(1, part), at)
		}
	}
	spinning, at := 0., rows[0].line
	for _, r := range rows {
		if r.kernel && hasAnyPrefix(r.function, spins) {
			if spinning == 0 {
				at = r.line
			}
			spinning += r.self
		}
	}
	emitLocks(b, rows)
	addTable(b, rows)
	if spinning >= muchSpinning {
		b.Warnf(at, "%.0f %% of the samples spin for a lock of the kernel: perf record -g of a minute, and perf script of it, show for which, and under which call", min(100, 100*spinning))
	}
	if dropped > 0 {
		b.Warnf(0, "functions beyond the first %d: %d", mostRows, dropped)
	}
	return nil
}

// shareOf returns a mechanism's part of the samples, and the line that shows it.
func shareOf(rows []row, mechanism string, nested bool) (part float64, line int64) {
	if nested {
		for _, r := range rows {
			if r.kernel && kernelclass.Of(r.function).Mechanism() == mechanism && max(r.all, r.self) > part {
				part, line = max(r.all, r.self), r.line
			}
		}
		if own, at := ownShareOf(rows, mechanism); own > part { // no row is its entry function
			part, line = own, at
		}
		return part, line
	}
	for _, f := range families {
		if f.mechanism != mechanism {
			continue
		}
		for _, r := range rows {
			if r.kernel && hasAnyPrefix(r.function, f.begins) {
				if part == 0 {
					line = r.line
				}
				part += r.self
			} else if by := r.calledBy(mechanism); r.kernel && by > 0 {
				if part == 0 {
					line = r.line
				}
				part += by
			}
		}
	}
	return part, line
}

// ownShareOf returns the part of the samples that functions of a mechanism have on their own, and others below them, with the line of the first.
func ownShareOf(rows []row, mechanism string) (part float64, line int64) {
	for i := range rows {
		r := &rows[i]
		own := 0.
		switch {
		case !r.kernel:
		case isOf(r.function, mechanism):
			own = r.self
		default:
			own = r.calledBy(mechanism)
		}
		if own > 0 && part == 0 {
			line = r.line
		}
		part += own
	}
	return part, line
}

// addTable shows the functions with the largest own shares.
func addTable(b *evidence.Builder, rows []row) {
	by := make(map[string]*row)
	var all []*row
	for i := range rows {
		r := &rows[i]
		x := by[r.function]
		if x == nil {
			x = &row{function: r.function, all: -1, kernel: r.kernel}
			by[r.function] = x
			all = append(all, x)
		}
		x.self += r.self
		if r.all >= 0 {
			x.all = max(x.all, 0) + r.all
		}
	}
	sorting.Short(all, func(x, y *row) int { return cmp.Compare(y.self, x.self) })
	t := evidence.Table{Title: "functions with most samples of their own", Columns: []string{"", "own %", "with what it calls %"}}
	for _, r := range all[:min(len(all), mostShown)] {
		name, calls := r.function, ""
		if r.kernel {
			name += " (kernel)"
		}
		if r.all >= 0 {
			calls = fmt.Sprintf("%.4g", 100*r.all)
		}
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%.4g", 100*r.self), calls})
	}
	b.Table(t)
}

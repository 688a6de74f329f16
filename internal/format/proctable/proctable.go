// Package proctable reads the processes of top and ps aux, with their CPU use: the busiest ones, and the CPU use of kernel threads
// that work for other processes, such as kswapd and ksoftirqd.
//
//	  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND          top of procps
//	   62 root      20   0       0      0      0 R 100.0   0.0   1445:11 ksoftirqd/10
//	USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND              ps aux
//	root        54 98.2  0.0      0     0 ?        R    Jun01 812:10 [kswapd0]
//	 PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND                                 top of BusyBox
//	  55     2 root     RW       0  0.0   0 23.8 [kswapd0]
//
// https://man7.org/linux/man-pages/man1/top.1.html, procps 3.2 to 4.0; https://man7.org/linux/man-pages/man1/ps.1.html.
//
// Where the figures mislead: in top they are since the previous screen, and in its first screen since the process began; in ps always since the
// process began. 100 % is one CPU; in top of BusyBox it is all CPUs, whose number the column of the CPU tells that a process ran on last: the highest, so that
// it is at least as many.
package proctable

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a list.
var Format = format.Format{
	Name:  "process-list",
	About: "processes with their CPU time, as top and ps aux list them: how busy the kernel's own threads are",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine    = 4096
	mostRows    = 100_000
	mostName    = 60
	mostShown   = 10
	mostColumns = 40
)

func matchHead(head []byte) format.Confidence {
	if !bytes.Contains(head, []byte("%CPU")) || !bytes.Contains(head, []byte("COMMAND")) {
		return format.No
	}
	var h *heading
	for l := range bytes.Lines(head) {
		if len(l) > mostLine {
			continue
		}
		f := strings.Fields(string(l))
		if x := headingOf(f); x != nil {
			h = x
		} else if h != nil {
			if _, ok := h.parseRow(f); ok {
				return format.Sure
			}
		}
	}
	return format.No
}

// heading is the positions of a list's columns.
type heading struct {
	pid, cpu, command, columns int

	stat    int // of BusyBox, else -1
	lastCPU int // of newer ones, else -1: percentages are of all CPUs
}

func headingOf(f []string) *heading {
	if len(f) < 6 || len(f) > mostColumns || f[len(f)-1] != "COMMAND" {
		return nil
	}
	h := &heading{pid: slices.Index(f, "PID"), cpu: slices.Index(f, "%CPU"), command: len(f) - 1, columns: len(f), stat: -1, lastCPU: -1}
	if h.pid < 0 || h.cpu < 0 {
		return nil
	}
	if slices.Contains(f, "%VSZ") || slices.Contains(f, "%MEM") && slices.Contains(f, "PPID") && slices.Contains(f, "STAT") && f[0] == "PID" {
		h.stat, h.lastCPU = slices.Index(f, "STAT"), slices.Index(f, "CPU")
	} else if !slices.Contains(f, "%MEM") {
		return nil
	}
	return h
}

// process is a row.
type process struct {
	pid  int64
	cpu  float64 // CPUs
	name string
	line int64

	lastCPU int64 // that it ran on, of BusyBox, else 0
}

// parseRow reads a process. The command is the last column and may have several words.
func (h *heading) parseRow(f []string) (p process, ok bool) {
	if h.stat >= 0 && len(f) > h.columns && (f[h.stat+1] == "N" || f[h.stat+1] == "<") { // its priority, a word of the state
		f = slices.Delete(slices.Clone(f), h.stat+1, h.stat+2)
	}
	if len(f) < h.columns {
		return p, false
	}
	pid, err := strconv.ParseInt(f[h.pid], 10, 32)
	cpu, err2 := strconv.ParseFloat(strings.TrimSuffix(strings.Replace(f[h.cpu], ",", ".", 1), "%"), 64)
	if err != nil || err2 != nil || pid < 0 || !(cpu >= 0 && cpu < 1e6) {
		return p, false
	}
	p = process{pid: pid, cpu: cpu / 100, name: nameOf(f[h.command:])}
	if h.lastCPU >= 0 {
		if n, err := strconv.ParseInt(f[h.lastCPU], 10, 16); err == nil && n > 0 {
			p.lastCPU = n
		}
	}
	return p, true
}

// nameOf returns the name of a command: arguments may hold secrets.
func nameOf(words []string) string {
	name := words[0]
	for len(words) > 1 && strings.Trim(name, `\_|-+`) == "" { // a tree of ps f
		words = words[1:]
		name = words[0]
	}
	if !strings.HasPrefix(name, "[") {
		name = name[strings.LastIndexByte(name, '/')+1:]
		if strings.HasSuffix(words[0], "]") || strings.Contains(words[0], "softirqd/") || strings.Contains(words[0], "kworker/") {
			name = words[0]
		}
	}
	name = strings.Trim(name, "[]:")
	return strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
}

// kernelThreads are prefixes of the names of kernel threads that work for other processes.
var kernelThreads = []string{"kswapd", "ksoftirqd/", "kcompactd", "khugepaged"}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var h *heading
	var all []process
	lists := 0
	most := make(map[string]process) // of the kernel's threads
	dropped, cpus := int64(0), int64(1)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) > mostLine {
			return true
		}
		f := strings.Fields(string(l.Text))
		if x := headingOf(f); x != nil {
			h, all = x, all[:0]
			lists++
			return true
		}
		if h == nil {
			return true
		}
		p, ok := h.parseRow(f)
		if !ok {
			return true
		}
		p.line, cpus = l.Number, max(cpus, p.lastCPU+1)
		for _, k := range kernelThreads {
			if strings.HasPrefix(p.name, k) && len(p.name) <= len(k)+4 && (p.cpu > most[k].cpu || most[k].line == 0) {
				most[k] = p
			}
		}
		if len(all) == mostRows {
			dropped++
			return true
		}
		all = append(all, p)
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all)+len(most) > 0, "the list", "proctable: no process in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	host := b.Subject(evidence.Subject{Kind: evidence.Host})
	if h.lastCPU >= 0 {
		for k, p := range most {
			p.cpu *= float64(cpus)
			most[k] = p
		}
		for i := range all {
			all[i].cpu *= float64(cpus)
		}
		b.Warnf(0, "its percentages are of all CPUs, of which there are at least %d", cpus)
	}
	for _, k := range kernelThreads {
		if p, ok := most[k]; ok {
			b.FactAt(host, evidence.FactKernelThread+strings.TrimSuffix(k, "/"), p.name, p.cpu, p.line)
		}
	}
	sorting.Short(all, func(x, y process) int { return cmp.Compare(y.cpu, x.cpu) })
	t := evidence.Table{Title: "busiest processes", Columns: []string{"", "CPUs"}}
	for _, p := range all[:min(len(all), mostShown)] {
		if p.cpu > 0 {
			t.Rows = append(t.Rows, []string{p.name, fmt.Sprintf("%.3g", p.cpu)})
		}
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	if lists > 1 {
		b.Warnf(0, "of %d lists the last is shown", lists)
	}
	if dropped > 0 {
		b.Warnf(0, "processes beyond the first %d: %d", mostRows, dropped)
	}
	return nil
}

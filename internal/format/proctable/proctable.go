// Package proctable reads the processes of top and ps aux, with their CPU use: the busiest ones, and the CPU use of kernel threads
// that work for other processes, such as kswapd and ksoftirqd.
//
//	  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND          top of procps
//	   62 root      20   0       0      0      0 R 100.0   0.0   1445:11 ksoftirqd/10
//	USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND              ps aux
//	root        54 98.2  0.0      0     0 ?        R    Jun01 812:10 [kswapd0]
//
// https://man7.org/linux/man-pages/man1/top.1.html, procps 3.2 to 4.0; https://man7.org/linux/man-pages/man1/ps.1.html.
//
// Where the figures mislead: in top they are since the previous screen, and in its first screen since the process began; in ps always since the
// process began. 100 % is one CPU.
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
type heading struct{ pid, cpu, command, columns int }

func headingOf(f []string) *heading {
	if len(f) < 6 || len(f) > mostColumns || f[len(f)-1] != "COMMAND" {
		return nil
	}
	h := &heading{slices.Index(f, "PID"), slices.Index(f, "%CPU"), len(f) - 1, len(f)}
	if h.pid < 0 || h.cpu < 0 || !slices.Contains(f, "%MEM") {
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
}

// parseRow reads a process. The command is the last column and may have several words.
func (h *heading) parseRow(f []string) (p process, ok bool) {
	if len(f) < h.columns {
		return p, false
	}
	pid, err := strconv.ParseInt(f[h.pid], 10, 32)
	cpu, err2 := strconv.ParseFloat(strings.Replace(f[h.cpu], ",", ".", 1), 64)
	if err != nil || err2 != nil || pid < 0 || !(cpu >= 0 && cpu < 1e6) {
		return p, false
	}
	return process{pid: pid, cpu: cpu / 100, name: nameOf(f[h.command:])}, true
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
	dropped := int64(0)
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
		p.line = l.Number
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

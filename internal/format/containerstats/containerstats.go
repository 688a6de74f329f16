// Package containerstats reads what containers use at a moment, as docker stats (podman, nerdctl) and kubectl top list it:
//
//	CONTAINER ID   NAME   CPU %     MEM USAGE / LIMIT     MEM %     NET I/O          BLOCK I/O         PIDS
//	22030b705436   db     393.24%   47.43MiB / 15.58GiB   0.30%     1.2kB / 0B       31.3MB / 42.1MB   7
//
//	NAME               CPU(cores)   MEMORY(bytes)                                kubectl top pod, --containers, node
//	app-7d9f-x2x1      1999m        512Mi
//
// https://docs.docker.com/reference/cli/docker/container/stats/, Docker 1.5 to 28; https://kubernetes.io/docs/reference/kubectl/generated/kubectl_top/.
// 100 % is one CPU. A container without a limit shows the host's, so a share of it says little. The lists do not show how much CPU a container may
// use.
package containerstats

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
	Name:  "container-stats",
	About: "what containers use at a moment: docker stats, podman stats, kubectl top",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine  = 2048
	mostRows  = 20_000
	mostName  = 100
	mostShown = 15
)

func matchHead(head []byte) format.Confidence {
	docker, kubectl := bytes.Contains(head, []byte("CPU %")) && bytes.Contains(head, []byte("MEM USAGE")), bytes.Contains(head, []byte("CPU(cores)"))
	if !docker && !kubectl {
		return format.No
	}
	p := &parser{}
	for l := range bytes.Lines(head) {
		if len(l) <= mostLine {
			p.parseLine(string(l), 1)
			if len(p.rows) > 0 {
				return format.Sure
			}
		}
	}
	return format.No
}

// container is a row.
type container struct {
	name               string
	cpu, memory, limit float64 // CPUs, bytes; limit 0: not told
	read               float64 // bytes read from disks since its start, −1 not told
	reread             float64 // bytes read between two lists, at the end of which it was near its limit
	most               float64 // share of its limit in the list with most
	line               int64
}

// followReading takes over from an earlier list what the newest does not show: how near to its limit it was, and what it read from disks by then. A group at its
// limit drops pages of the program and of files, and reads them again.
func (c *container) followReading(before container) {
	c.reread, c.most = before.reread, max(before.most, c.most)
	if c.most >= nearLimit && c.shareOfLimit() >= nearLimit && before.read >= 0 && c.read > before.read {
		c.reread += c.read - before.read
	}
}

// shareOfLimit returns how much of its limit it uses, 0 unknown.
func (c *container) shareOfLimit() float64 {
	if c.limit <= 0 {
		return 0
	}
	return c.memory / c.limit
}

type parser struct {
	kubectl, docker, named, pod, node bool
	rows                              []container
	last                              map[string]int
	screens                           int
	dropped                           int64
	blocks                            int // pairs of sizes before the one of disks, −1 no such column
}

func (p *parser) parseLine(text string, line int64) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "\x1b[2J\x1b[H"))
	f := strings.Fields(text)
	switch {
	case len(f) < 3:
		return
	case strings.Contains(text, "CPU %") && strings.Contains(text, "MEM USAGE"):
		p.docker, p.kubectl, p.named, p.blocks = true, false, strings.Contains(text, "NAME"), -1
		if strings.Contains(text, "BLOCK I/O") {
			p.blocks = strings.Count(text, "NET I/O")
		}
		p.screens++
		return
	case slices.Contains(f, "CPU(cores)"):
		p.kubectl, p.docker, p.pod, p.node = true, false, f[0] == "POD" || f[0] == "NAMESPACE", slices.Contains(f, "CPU%")
		p.screens++
		return
	}
	c, ok := container{}, false
	switch {
	case p.docker:
		c, ok = p.ofDocker(text)
	case p.kubectl:
		c, ok = p.ofKubectl(f)
	}
	if !ok {
		return
	}
	c.line = line
	if p.last == nil {
		p.last = make(map[string]int)
	}
	c.most = c.shareOfLimit()
	if i, again := p.last[c.name]; again { // another screen
		c.followReading(p.rows[i])
		p.rows[i] = c
		return
	}
	if len(p.rows) == mostRows {
		p.dropped++
		return
	}
	p.last[c.name] = len(p.rows)
	p.rows = append(p.rows, c)
}

// ofDocker reads "22030b705436   db   393.24%   47.43MiB / 15.58GiB   …".
func (p *parser) ofDocker(text string) (c container, ok bool) {
	before, after, ok := strings.Cut(text, "%")
	f := strings.Fields(before)
	if !ok || len(f) < 2 {
		return c, false
	}
	cpu, err := strconv.ParseFloat(f[len(f)-1], 64)
	memory, rest, ok2 := takeSize(strings.ReplaceAll(after, "/", " / "))
	most, rest, _ := takePair(rest)
	c = container{name: clipText(f[len(f)-2]), cpu: cpu / 100, memory: memory, limit: most, read: -1}
	_, rest, _ = strings.Cut(rest, "%")
	for i := 0; i <= p.blocks && ok; i++ { // pairs of networks and of disks
		var v float64
		if v, rest, ok = takeSize(rest); ok && i == p.blocks {
			c.read = v
		}
		_, rest, _ = takePair(rest)
	}
	return c, ok2 && err == nil && cpu >= 0 && cpu < 1e7
}

// ofKubectl reads "app-x2x1 1999m 512Mi", with the pod or the namespace before.
func (p *parser) ofKubectl(f []string) (c container, ok bool) {
	at := -1
	for i, s := range f {
		if _, isCPU := parseCores(s); isCPU && i+1 < len(f) && i > 0 {
			at = i
			break
		}
	}
	if at < 0 {
		return c, false
	}
	c.cpu, _ = parseCores(f[at])
	c.name = clipText(strings.Join(f[:at], "/"))
	m := f[at+1]
	if p.node && at+2 < len(f) {
		m = f[at+2]
	}
	c.memory, ok = parseSize(m)
	return c, ok
}

// parseCores reads CPUs: "1999m" and "2".
func parseCores(s string) (float64, bool) {
	digits, milli := strings.CutSuffix(s, "m")
	v, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0, false
	}
	if milli {
		return float64(v) / 1000, true
	}
	return float64(v), true
}

// units of sizes, as Docker and Kubernetes write them; longer ones first.
var units = []struct {
	suffix string
	times  float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

// takeSize reads the size that text begins with, of which an old Docker parts the unit, and returns what follows it.
func takeSize(text string) (v float64, rest string, ok bool) {
	one, rest, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
	if v, ok = parseSize(one); ok {
		return v, rest, true
	}
	unit, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	v, ok = parseSize(one + unit)
	return v, rest, ok
}

// takePair reads the second size of a pair, behind its stroke.
func takePair(text string) (v float64, rest string, ok bool) {
	second, ok := strings.CutPrefix(strings.TrimLeft(text, " "), "/")
	if !ok {
		return 0, text, false
	}
	return takeSize(second)
}

// parseSize reads bytes: "47.43MiB", "352.3 MB" and "512Mi".
func parseSize(s string) (float64, bool) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err == nil && v >= 0 && v < 1e15 {
			return v * u.times, true
		}
	}
	return 0, false
}

func clipText(s string) string { return strings.ToValidUTF8(s[:min(len(s), mostName)], "?") }

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{}
	err := a.Lines(func(l format.Line) bool {
		if len(l.Text) <= mostLine {
			p.parseLine(string(l.Text), l.Number)
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(p.rows) > 0, "the list", "containerstats: no container in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	host := b.Subject(evidence.Subject{Kind: evidence.Host})
	var again container
	for _, c := range p.rows {
		if c.most >= nearLimit {
			b.Warnf(c.line, "container %s uses %.0f %% of the memory it may: memory.events and memory.pressure of its group show whether it waits for memory", c.name, 100*c.most)
		}
		if c.limit > 0 && c.reread/c.limit > again.reread/max(1, again.limit) {
			again = c
		}
	}
	if again.reread > 0 {
		b.FactAt(host, evidence.FactRereadAtLimit, again.name, again.reread/again.limit, again.line)
	}
	sorting.Short(p.rows, func(x, y container) int { return cmp.Compare(y.cpu, x.cpu) })
	t := evidence.Table{Title: "containers, most CPU first", Columns: []string{"", "CPUs", "memory MiB", "limit MiB"}}
	for _, c := range p.rows[:min(len(p.rows), mostShown)] {
		limit := ""
		if c.limit > 0 {
			limit = fmt.Sprintf("%.0f", c.limit/(1<<20))
		}
		t.Rows = append(t.Rows, []string{c.name, fmt.Sprintf("%.3g", c.cpu), fmt.Sprintf("%.0f", c.memory/(1<<20)), limit})
	}
	b.Table(t)
	if p.screens > 1 {
		b.Warnf(0, "of each container the last of %d lists is shown", p.screens)
	}
	if p.rows[0].cpu >= 1 {
		b.Warnf(p.rows[0].line, "how much CPU %s may use is not told: cpu.stat of its group shows whether a limit stops it, and nproc how many CPUs the host has", p.rows[0].name)
	}
	if p.dropped > 0 {
		b.Warnf(0, "containers beyond the first %d: %d", mostRows, p.dropped)
	}
	return nil
}

// nearLimit is the share of its memory limit from which a container is reported.
const nearLimit = .95

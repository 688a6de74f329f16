// Package hotthreads reads the hot threads of Elasticsearch and OpenSearch (GET _nodes/hot_threads):
//
//	::: {node-1}{5idiuMgzRAy45kV3Pak3Wg}{10.20.1.101}{10.20.1.101:9300}
//	   Hot threads at 2016-08-03T17:26:31.788Z, interval=500ms, busiestThreads=3, ignoreIdleThreads=true:
//
//	   101.1% (505.5ms out of 500ms) cpu usage by thread 'elasticsearch[node-1][search][T#5]'
//	     10/10 snapshots sharing following 16 elements
//	       org.apache.lucene.util.automaton.Operations.determinize(Operations.java:777)
//
// https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-nodes-hot-threads, Elasticsearch 0.90 to 9, OpenSearch 1 to 3; since 7.15 "100.0%
// [cpu=98.9%, other=1.1%] (500ms out of 500ms) cpu usage". Only its kind cpu tells of work: block and wait are read for the table alone.
package hotthreads

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such an answer.
var Format = format.Format{
	Name:  "hot-threads",
	About: "hot threads of Elasticsearch and OpenSearch (_nodes/hot_threads)",
	Match: func(head []byte) format.Confidence {
		switch {
		case bytes.Contains(head, []byte("Hot threads at ")) && bytes.Contains(head, []byte(", interval=")):
			return format.Sure
		case bytes.Contains(head, usage):
			for l := range bytes.Lines(head) {
				if _, ok := threadOf(string(l[:min(len(l), mostLine)])); ok {
					return format.Sure
				}
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

var usage = []byte(" usage by thread '")

const (
	mostLine    = 1024
	mostThreads = 20_000
	mostName    = 200
	mostShown   = 20
	// busy is the part of a CPU that a thread must use to count as one that always runs.
	busy = .9
)

// thread is a hot thread.
type thread struct {
	kind, name string
	cpu        float64 // part of a CPU; of the interval for other kinds
	at         string  // function in which it was in all snapshots, its innermost one; "" in several
	node       int
	line       int64
}

func threadOf(text string) (t thread, ok bool) {
	before, rest, ok := strings.Cut(text, string(usage))
	f := strings.Fields(before)
	if !ok || len(f) < 2 {
		return t, false
	}
	share, percent := strings.CutSuffix(f[0], "%")
	v, err := strconv.ParseFloat(share, 64)
	if !percent || err != nil || !(v >= 0 && v < 1e6) {
		return t, false
	}
	if _, cpu, found := strings.Cut(before, "[cpu="); found {
		cpu, _, _ = strings.Cut(cpu, "%")
		if c, err := strconv.ParseFloat(cpu, 64); err == nil && c >= 0 && c < 1e6 {
			v = c
		}
	}
	name, _, _ := strings.Cut(rest, "'")
	return thread{kind: f[len(f)-1], name: strings.ToValidUTF8(name[:min(len(name), mostName)], "?"), cpu: v / 100}, true
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var all []thread
	nodes, open := 0, false
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		text := strings.TrimSpace(string(l.Text[:min(len(l.Text), mostLine)]))
		if strings.HasPrefix(text, ":::") {
			nodes++
			return true
		}
		if t, ok := threadOf(text); ok {
			if open = false; len(all) < mostThreads {
				t.node, t.line = nodes, l.Number
				all = append(all, t)
			}
			return true
		}
		switch {
		case strings.Contains(text, " snapshots sharing following "):
			n, of, ok := strings.Cut(text, "/")
			of, _, _ = strings.Cut(of, " ")
			open = ok && n == of
		case open && len(all) > 0:
			name, _, _ := strings.Cut(text, "(")
			if i := strings.LastIndexByte(name, '/'); i >= 0 { // a module: "app//org.…", "java.base@17/java.…"
				name = name[i+1:]
			}
			all[len(all)-1].at, open = strings.ToValidUTF8(name[:min(len(name), mostName)], "?"), false
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0 || nodes > 0, "the answer", "hot-threads: no node in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	type place struct {
		node int
		at   string
	}
	n, line := make(map[place]int), make(map[place]int64)
	most := place{}
	for i := range all {
		t := &all[i]
		if t.kind != "cpu" || t.cpu < busy || t.at == "" || strings.HasSuffix(t.at, ".park") || strings.HasSuffix(t.at, "epollWait") {
			continue
		}
		k := place{t.node, t.at}
		if n[k]++; n[k] == 1 {
			line[k] = t.line
		}
		if n[k] > n[most] {
			most = k
		}
	}
	if n[most] > 0 {
		b.FactAt(subject, evidence.FactThreadsHot, most.at, float64(n[most]), line[most])
	}
	sorting.Short(all, func(x, y thread) int { return cmp.Compare(y.cpu, x.cpu) })
	t := evidence.Table{Title: "hot threads", Columns: []string{"", "CPUs, or share of the time", "of", "in all snapshots in"}}
	for _, x := range all[:min(len(all), mostShown)] {
		t.Rows = append(t.Rows, []string{x.name, fmt.Sprintf("%.3g", x.cpu), x.kind, x.at})
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	return nil
}

//go:build linux

package main

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/dev/bench/table"
)

func TestRowsOfGoTest(t *testing.T) {
	b := benchmark{metrics: []metric{
		{benchmark: "BenchmarkOpen/1M", unit: "ms/open", work: "opening", peer: table.Limit, goal: "≤ 3000", most: 3000},
		{benchmark: "BenchmarkOpen/1M", unit: "ratio", work: "against wrk", peer: "wrk", goal: "≥ 0.9", least: .9},
	}}
	got := b.rowsOf("BenchmarkOpen/1M-2   \t       1\t      1893 ms/open\t 0.8 ratio\t 12 MB")
	want := []table.Row{{Work: "opening", Peer: table.Limit, Got: "1893", Goal: "≤ 3000", Met: true}, {Work: "against wrk", Peer: "wrk", Got: "0.8", Goal: "≥ 0.9"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, line := range []string{"", "PASS", "ok  \tpackage\t1.2s", "BenchmarkOther-2 1 5 ms/open"} {
		if rows := b.rowsOf(line); rows != nil {
			t.Errorf("%q: %+v", line, rows)
		}
	}
}

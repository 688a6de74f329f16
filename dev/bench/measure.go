//go:build linux

package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/dev/bench/table"
)

// cost is the cost of one run.
type cost struct{ wall, cpu float64 } // s

func measureCost(f func() error) (c cost, err error) {
	runtime.GC()
	wall, cpu := time.Now(), ownCPUSeconds()
	err = f()
	return cost{time.Since(wall).Seconds(), ownCPUSeconds() - cpu}, err
}

// ownCPUSeconds returns the CPU time of this process, of all threads, in s.
func ownCPUSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// figures are one figure of several rounds.
type figures []float64

func (f figures) formatMedian(format string) string {
	s := slices.Sorted(slices.Values(f))
	return fmt.Sprintf(format+" ("+format+"–"+format+")", s[len(s)/2], s[0], s[len(s)-1])
}

func (f figures) median() float64 { return slices.Sorted(slices.Values(f))[len(f)/2] }

// heading is the work that the rows below it are about.
var heading string

func printHeading(s string) {
	fmt.Fprintf(out, "\n%s\n", s)
	heading, _, _ = strings.Cut(s, ": ")
}

// printRow prints a figure, and if there is a limit whether it holds.
func printRow(what, got, asked string, met bool) { printGoal(table.Limit, what, got, asked, met) }

// printGoal prints a figure that is compared with a peer, and if there is a goal whether it is met.
func printGoal(peer, what, got, asked string, met bool) {
	verdict := ""
	if asked != "" {
		verdict = "asked " + asked + ": "
		if met {
			verdict += "got"
		} else {
			verdict += "MISSED"
		}
		table.Add(table.Row{Work: heading + ": " + strings.TrimSpace(what), Peer: peer, Got: got, Goal: asked, Met: met})
	}
	fmt.Fprintf(out, "  %-34s %-28s %s\n", what, got, verdict)
}

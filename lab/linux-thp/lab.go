// Package linuxthp is the lab of a service whose page faults compact memory for huge pages: a
// field report of a web shop whose CPUs were busy in the kernel, its fix, and
// healthy services that look alike. README.md tells the story; this file has all that the lab demands.
package linuxthp

import (
	"embed"
	"slices"
	"time"

	"github.com/unstall/unstall/lab"
)

//go:embed arena/*.go fragment/*.go shop/*.go shop/*.php
var sources embed.FS

// host are causes of the host that a lab happens to run on.
var host = []string{"linux.noisy-neighbour", "linux.cpu-saturation"}

const (
	stall   = "linux.thp-stall"
	softirq = "linux.softirq"
	sync    = "linux.disk-sync"
	reclaim = "linux.memory-reclaim"
	own     = "service.own-work"
)

// rate is the load of all variants, requests/s: sick ones use about half of a CPU for it.
const rate = 40

// slo is far above the latency of any variant when nothing delays it.
const slo = 5 * time.Millisecond

// Settings of the host: those of the article, which were the default then, and those of its fix.
var (
	always  = []string{"thp=always", "thp-defrag=always"}
	never   = []string{"thp=never", "thp-defrag=always"}
	madvise = []string{"thp=madvise", "thp-defrag=always"}
)

// pieces is a program that splits the host's free memory into pieces smaller than a huge page.
var pieces = []string{"fragment", "-most=.6"}

// variants run healthy ones first, on unfragmented memory: memory stays fragmented afterwards.
var variants = []lab.Variant{
	{
		Name: "dense", About: "uses all of its huge pages, on a host that has some to give", Program: "arena", Args: []string{"-touch=4096"}, Host: always, Rate: 150, Resident: 60,
		Expected: lab.Expected{NoneOf: []string{stall}, Not: []string{}},
	},
	{
		Name: "compute", About: "a tenth of the requests computes for 40 ms", Program: "arena", Args: []string{"-mode=compute"}, Host: always, Resident: 60,
		Expected: lab.Expected{First: own, Not: []string{stall, softirq, sync, reclaim}},
	},
	{
		Name: "journal", About: "each request waits until it is on the disk", Program: "arena", Args: []string{"-mode=journal", "-files={files}"}, Host: always, Resident: 60,
		Expected: lab.Expected{First: sync, Not: []string{stall, softirq, reclaim, own}},
	},
	{
		Name: "datagrams", About: "each request is sent to all listeners in hundreds of small packets", Program: "arena", Args: []string{"-mode=datagrams"}, Host: always, Resident: 60,
		Expected: lab.Expected{First: softirq, Not: []string{stall, sync, reclaim}},
	},
	{
		Name: "files", About: "looks things up in a file that is larger than the memory it may have", Program: "arena", Args: []string{"-mode=files", "-size=256", "-files={files}"}, Host: always, Memory: 48, Rate: 30, Resident: 64,
		Expected: lab.Expected{First: reclaim, Not: []string{stall, softirq, sync}},
	},
	{
		Name: "sick", About: "touches a byte of each huge page, on memory in pieces that is compacted at once", Program: "arena", Host: always, Beside: pieces, Compared: true, Resident: 60,
		Expected: lab.Expected{First: stall, Not: []string{softirq, sync, "linux.page-faults"}},
	},
	{
		Name: "never", About: "huge pages switched off for the host, as in the article", Program: "arena", Host: never, Beside: pieces, Compared: true, Resident: 60,
		Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
	},
	{
		Name: "madvise", About: "huge pages only for those who ask", Program: "arena", Host: madvise, Beside: pieces, Compared: true, Resident: 60,
		Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
	},
	{
		Name: "off-for-it", About: "huge pages switched off for this process alone", Program: "arena", Args: []string{"-thp=false"}, Host: always, Beside: pieces, Compared: true, Resident: 60,
		Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
	},
}

// Lab is the incident.
var Lab = lab.Lab{
	Name:    "linux-thp",
	About:   "a service burns its CPU time in the kernel, which searches for huge pages",
	Runtime: lab.Go{Sources: sources},
	Kernel:  true,
	Path:    "/press",
	Full: lab.Sizes{Blocks: 6, Record: 12 * time.Second, Patience: 2 * time.Minute, Load: lab.Rising{
		Base: rate, Peak: rate, Warm: time.Second, Before: 500 * time.Millisecond, For: 4 * time.Second, SLO: slo, Patience: 5 * time.Second}},
	Quick: lab.Sizes{Blocks: 6, Record: 8 * time.Second, Patience: 20 * time.Second, Load: lab.Rising{
		Base: rate, Peak: rate, Warm: time.Second, Before: 200 * time.Millisecond, For: 1500 * time.Millisecond, SLO: slo, Patience: 5 * time.Second}},
	Sick:     "sick",
	Fixed:    "never",
	Variants: slices.Concat(shops, variants),
	Checks:   outcomeChecks,
	Moves:    measureExtras,
}

// Package hugepages models what transparent huge pages cost a process and what they save it: the
// faults that bring them, the compaction that finds room for them, and the faults for small pages
// there would be in their place.
//
// With huge pages one fault brings 512 small ones, all cleared; without, each that is touched takes
// a fault of its own. So a huge page saves time where more of it is touched than its fault costs
// small faults: the break-even is the cost of the one divided by that of the other, some 20 pages
// of 512 where memory is free (34 µs and 1.7 µs, measured on Linux 6.18). Where none is free and
// memory is compacted at once (defrag), that comes on top.
//
// Rules and their sources: who gets huge pages, and when memory is compacted for them:
// https://docs.kernel.org/admin-guide/mm/transhuge.html and vma_thp_gfp_mask in mm/huge_memory.c;
// what faults cost is measured by the recorder, else typical; what is touched is counted in the
// process's huge pages (internal/format/hugepages).
//
// Not modelled: fewer misses of the TLB with huge pages (up to some percent of the time of programs
// that walk through much memory: what is said to be saved without them is at most that), copies of
// pages after fork, memory that khugepaged makes huge later.
package hugepages

import (
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
)

// ID is that of [Model]; never renamed.
const ID = "linux.huge-pages"

// Model of transparent huge pages.
var Model = &model.Model{
	ID: ID, About: "transparent huge pages", From: "a capture of a process on Linux",
	Covers: evidence.CoverHugePages, Default: "what transparent huge pages cost and save a process", Knobs: Knobs, Ask: answerQuestion,
}

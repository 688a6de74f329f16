package goheap

import (
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/model"
)

// Model of Go's heap.
var Model = &model.Model{
	ID: ID, About: "Go's heap", From: "its gctrace log, an execution trace or a capture of it will do",
	Covers: evidence.CoverGC, Default: "what memory buys, and how much is worth it", Knobs: Knobs, Ask: ask,
}

package goheap

import (
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Model of Go's heap.
var Model = &model.Model{
	ID: ID, About: "Go's heap", From: "a gctrace log, an execution trace or a capture",
	Covers: evidence.CoverGC, Default: "what more memory would save, and how much is worth it", Knobs: Knobs, Ask: answerQuestion,
}

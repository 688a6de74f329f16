package younggen

import (
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Model of a JVM's young generation.
var Model = &model.Model{
	ID: ID, About: "a JVM's young generation", From: "its GC log, or a capture",
	Covers: evidence.CoverGC, Default: "what a larger young generation would save", Knobs: Knobs, Ask: answerQuestion,
}

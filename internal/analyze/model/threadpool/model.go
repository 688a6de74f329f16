package threadpool

import (
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Model of .NET's thread pool.
var Model = &model.Model{
	ID: ID, About: ".NET's thread pool", From: "a capture",
	Covers: evidence.CoverThreadPool, Default: "how the thread pool would behave, and what helps", Knobs: Knobs, Ask: answerQuestion,
}

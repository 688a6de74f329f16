package perfreport

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// async-profiler prints stacks as text, innermost function first, in versions 1 to 4 and with a table of functions behind them:
//
//	--- Execution profile ---
//	Total samples       : 482
//
//	--- 4820000000 ns (48.20%), 482 samples
//	  [ 0] shop.Prices.sum_[j]
//	  [ 1] shop.Cart.total_[j]
//
//	Total: 47839 (56.23%)  samples: 3                                        version 1.0
//
// Which event was sampled does not stand there: of locks the innermost "function" is the class of the lock, of allocations that of the objects. Allocations tell
// bytes, and are counted by their samples, too.
// https://github.com/async-profiler/async-profiler/blob/master/docs/OutputFormats.md

var asyncTitle = []byte("--- Execution profile ---")

// blocks puts the lines of such stacks together.
type blocks struct {
	open folded // innermost first
	line int64
	seen bool // the title
}

// readLine takes a line; false of lines that belong to no stack. The stack that it ends is done.
func (b *blocks) readLine(l []byte, number int64) (done folded, line int64, ok bool) {
	if bytes.Contains(l, asyncTitle) {
		b.seen = true
		return folded{}, 0, true
	}
	if !b.seen {
		return folded{}, 0, false
	}
	text := strings.TrimRight(string(l[:min(len(l), mostLine)]), " \t")
	if frame, is := asyncFrame(text); is {
		if b.open.count > 0 && len(b.open.frames) < mostFrames {
			b.open.frames = append(b.open.frames, frame)
		}
		return folded{}, 0, true
	}
	if n := asyncHead(text); n > 0 || strings.TrimSpace(text) == "" {
		done, line = b.end()
		b.open.count, b.line = n, number
		return done, line, true
	}
	return folded{}, 0, false
}

// end returns the open stack, outermost function first behind a word for the program; without frames if there is none.
func (b *blocks) end() (done folded, line int64) {
	if len(b.open.frames) > 0 {
		done = folded{frames: append(slices.Clone(b.open.frames), "java"), count: b.open.count}
		slices.Reverse(done.frames)
	}
	line = b.line
	b.open = folded{frames: b.open.frames[:0]}
	return done, line
}

// asyncHead reads the samples of "--- 4820000000 ns (48.20%), 482 samples" and "Total: 47839 (56.23%)  samples: 3"; 0 of other lines.
func asyncHead(text string) float64 {
	var digits string
	if rest, ok := strings.CutPrefix(text, "--- "); ok {
		_, rest, ok = strings.Cut(rest, "%), ")
		if digits, _, _ = strings.Cut(rest, " sample"); !ok {
			return 0
		}
	} else if rest, ok := strings.CutPrefix(text, "Total: "); ok {
		_, digits, ok = strings.Cut(rest, "%)  samples: ")
		if !ok {
			return 0
		}
	}
	n, err := strconv.ParseUint(digits, 10, 40)
	if err != nil {
		return 0
	}
	return float64(n)
}

// asyncFrame reads "  [ 0] shop.Prices.sum_[j]".
func asyncFrame(text string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " "), "[")
	digits, name, ok2 := strings.Cut(rest, "] ")
	if _, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 16); !ok || !ok2 || err != nil || name == "" {
		return "", false
	}
	return strings.ToValidUTF8(name, "?"), true
}

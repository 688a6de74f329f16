package perfreport

import (
	"strings"

	"github.com/unstall/unstall/internal/base/kernelclass"
)

// Below a function that was unfolded stand its callers, each further in than what it calls:
//
//	-   29.36%    29.36%  [kernel]  [k] native_queued_spin_lock_slowpath
//	   - native_queued_spin_lock_slowpath
//	      - 71.14% _raw_spin_lock_irq
//	         - shrink_inactive_list
//	            + 99.62% shrink_lruvec
//	      + 21.07% _raw_spin_lock_irqsave
//
//	            |--71.14%--_raw_spin_lock_irq                     --stdio
//	            |          shrink_inactive_list
//
// Their shares are of all samples, or of what they call (--call-graph fractal): then those of a function's callers make 100 %.

// caller is a line below a function.
type caller struct {
	indent int
	share  float64 // −1: that of what it calls
	name   string
}

// mostCallers bounds the lines that are kept of a function.
const mostCallers = 500

// parseCaller reads such a line.
func parseCaller(text string) (c caller, ok bool) {
	text = strings.TrimRight(text, " \t▒█◆│")
	c.indent = strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(" \t|-+", r) })
	if c.indent <= 0 {
		return c, false
	}
	c.share, c.name = -1, text[c.indent:]
	if i := strings.IndexByte(c.name, '%'); i > 0 {
		share, found := parseShare(c.name[:i+1])
		if !found {
			return c, false
		}
		c.share, c.name = share, c.name[i+1:]
	}
	c.name = clipText(strings.TrimLeft(c.name, " -"))
	return c, c.name != "" && !strings.ContainsAny(c.name, " \t")
}

// calledBy returns the part of all samples that a function has on its own below callers of a mechanism.
func (r *row) calledBy(mechanism string) (part float64) {
	if len(r.callers) == 0 || !(r.self > 0) {
		return 0
	}
	type node struct {
		indent  int
		part    float64
		counted bool
	}
	of := r.areParts()
	open := []node{{-1, r.self, false}}
	for _, c := range r.callers {
		for len(open) > 1 && (open[len(open)-1].indent > c.indent || open[len(open)-1].indent == c.indent && c.share >= 0) { // without a share it is what called the line above
			open = open[:len(open)-1]
		}
		callee := open[len(open)-1]
		n := node{c.indent, callee.part, callee.counted}
		switch {
		case c.share >= 0 && of:
			n.part *= min(1, c.share)
		case c.share >= 0:
			n.part = min(n.part, c.share)
		}
		if !n.counted && isOf(c.name, mechanism) {
			n.counted = true
			part += n.part
		}
		open = append(open, n)
	}
	return min(part, r.self)
}

// areParts says whether the callers' shares are parts of what they call: those of the outermost ones are more than all that the function has.
func (r *row) areParts() bool {
	first, sum := -1, 0.
	for _, c := range r.callers {
		if c.share < 0 {
			continue
		}
		if first < 0 {
			first = c.indent
		}
		if c.indent == first {
			sum += c.share
		}
	}
	return sum > 1.05*r.self
}

// isOf says whether a function of the kernel belongs to a mechanism.
func isOf(function, mechanism string) bool {
	if kernelclass.Of(function).Mechanism() == mechanism {
		return true
	}
	for _, f := range families {
		if f.mechanism == mechanism && hasAnyPrefix(function, f.begins) {
			return true
		}
	}
	return false
}

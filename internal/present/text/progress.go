package text

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"
)

// Progress is one line that says how something is getting on. Only a terminal
// gets it written over; elsewhere a line is written every few seconds.
type Progress struct {
	w     io.Writer
	width int // of the terminal, 0: none
	every time.Duration
	last  time.Time
	shown bool
}

// NewProgress returns a progress line on w, which is standard error as a rule.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w, every: 5 * time.Second, last: time.Now()}
	if f, ok := w.(*os.File); ok {
		if _, columns, terminal := terminalSize(f); terminal {
			p.width = max(columns, 40)
		}
	}
	return p
}

// Show shows a line in place of the one before.
func (p *Progress) Show(line string) {
	if p.width > 0 {
		if utf8.RuneCountInString(line) >= p.width {
			line = string([]rune(line)[:p.width-1])
		}
		fmt.Fprintf(p.w, "\r%s\x1b[K", line)
		p.shown = true
		return
	}
	if now := time.Now(); now.Sub(p.last) >= p.every {
		p.last = now
		fmt.Fprintln(p.w, line)
	}
}

// Done removes the line.
func (p *Progress) Done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

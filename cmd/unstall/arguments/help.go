package arguments

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteHelp writes what a command does and takes, in lines of at most width characters.
func (c *Command) WriteHelp(w io.Writer, width int) error {
	h := &help{width: max(width, 60)}
	h.line("Usage: " + c.Usage())
	h.paragraph(c.Help)
	for text := range strings.SplitSeq(strings.TrimSpace(c.Detail), "\n\n") {
		h.paragraph(text)
	}
	if len(c.Arguments) > 0 {
		h.line("")
		h.line("Arguments:")
		var rows [][2]string
		for _, v := range c.Arguments {
			rows = append(rows, [2]string{v.String(), v.Help})
		}
		h.columns(rows)
	}
	h.flags(c)
	h.commands(c)
	if c.Parent == nil && len(c.Commands) > 0 {
		h.line("")
		h.line(fmt.Sprintf("Run %q for more information on a command.", c.Name+" <command> --help"))
	}
	_, err := io.WriteString(w, h.b.String())
	return err
}

// Usage is how a command is called, in a line.
func (c *Command) Usage() string {
	text := c.Path()
	some := false
	for _, f := range c.All() {
		if f.Required {
			text += " " + f.called()
		} else {
			some = true
		}
	}
	for _, v := range c.Arguments {
		text += " " + v.String()
	}
	if len(c.Arguments) == 0 && len(c.Commands) > 0 {
		text += " <command>"
	}
	if some {
		text += " [flags]"
	}
	return text
}

// called is how a flag stands on a line: --rate=N.
func (f *Flag) called() string {
	if f.bool() {
		if f.Negatable {
			return "--[no-]" + f.Name
		}
		return f.String()
	}
	return f.String() + "=" + f.placeholder()
}

func (f *Flag) placeholder() string {
	tail := ""
	if f.list() && f.Separate {
		tail = ",..."
	}
	switch {
	case f.Placeholder != "":
		return f.Placeholder + tail
	case f.HasDefault && kind(f.target.Type()) == "STRING":
		return strconv.Quote(f.Default) + tail
	case f.HasDefault:
		return f.Default + tail
	}
	return kind(f.target.Type()) + tail
}

// says is what a flag is for, and where else its value may come from.
func (f *Flag) says() string {
	if f.Env == "" {
		return f.Help
	}
	if text, ok := strings.CutSuffix(f.Help, "."); ok {
		return text + " ($" + f.Env + ")."
	}
	return f.Help + " ($" + f.Env + ")"
}

// help is a text that is being written.
type help struct {
	b     strings.Builder
	width int
}

func (h *help) line(text string) {
	h.b.WriteString(strings.TrimRight(text, " "))
	h.b.WriteByte('\n')
}

func (h *help) paragraph(text string) {
	if text == "" {
		return
	}
	h.line("")
	for _, line := range wrapped(text, h.width) {
		h.line(line)
	}
}

// flags writes those of the program first, then the command's, then those with titles of their own.
func (h *help) flags(c *Command) {
	var titles []string
	rows := make(map[string][][2]string)
	for i, of := range c.chain() {
		var shown []*Flag
		if i == 0 {
			shown = []*Flag{{Value: Value{Name: "help", Help: "Show this help.", flag: true}, Short: 'h'}}
		}
		for _, f := range of.Flags {
			if !f.Hidden {
				shown = append(shown, f)
			}
		}
		for j, f := range shown {
			if _, ok := rows[f.Group]; !ok {
				titles = append(titles, f.Group)
			} else if j == 0 {
				rows[f.Group] = append(rows[f.Group], [2]string{})
			}
			left := "    "
			if f.Short != 0 {
				left = "-" + string(f.Short) + ", "
			}
			name := f.String()
			if f.target.IsValid() {
				name = f.called()
			}
			rows[f.Group] = append(rows[f.Group], [2]string{left + name, f.says()})
		}
	}
	for _, title := range titles {
		h.line("")
		if title == "" {
			h.line("Flags:")
		} else {
			h.line(title)
		}
		h.columns(rows[title])
	}
}

// commands writes those below a command that do something.
func (h *help) commands(c *Command) {
	var rows [][2]string
	c.Every(func(sub *Command) {
		if sub != c && !sub.Hidden && len(sub.Commands) == 0 {
			rows = append(rows, [2]string{strings.TrimPrefix(sub.Path(), c.root().Name+" "), sub.Help})
		}
	})
	if len(rows) > 0 {
		h.line("")
		h.line("Commands:")
		h.columns(rows)
	}
}

func (c *Command) root() *Command { return c.chain()[0] }

// columns writes rows of two texts, set in by two characters; a first text that is too long has a
// line of its own.
func (h *help) columns(rows [][2]string) {
	const inset, gap, least = 2, 4, 30
	longest := max(375*(h.width-inset)/1000, least)
	left := 0
	for _, row := range rows {
		if n := utf8.RuneCountInString(row[0]); n < longest {
			left = max(left, n)
		}
	}
	beside := strings.Repeat(" ", inset+left+gap)
	for _, row := range rows {
		line := strings.Repeat(" ", inset) + row[0]
		for i, text := range wrapped(row[1], h.width-inset-left-gap) {
			n := utf8.RuneCountInString(line)
			if i > 0 || n >= len(beside) {
				h.line(line)
				line, n = "", 0
			}
			line += beside[n:] + text
		}
		h.line(line)
	}
}

// wrapped is a text in lines of at most width characters.
func wrapped(text string, width int) (lines []string) {
	line, n := "", 0
	for _, word := range strings.Fields(text) {
		k := utf8.RuneCountInString(word)
		if n > 0 && n+1+k > width {
			lines = append(lines, line)
			line, n = "", 0
		}
		if n > 0 {
			line += " "
			n++
		}
		line += word
		n += k
	}
	if n > 0 {
		lines = append(lines, line)
	}
	return lines
}

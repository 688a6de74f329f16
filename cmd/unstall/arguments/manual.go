package arguments

import (
	"fmt"
	"io"
	"strings"
)

// WriteManual writes a page for man, with the macros of man(7). It has no date: two builds are equal.
func (c *Command) WriteManual(w io.Writer, about, description string) error {
	m := &manual{}
	m.macro(`TH %s 1 "" %s ""`, strings.ToUpper(c.Name), c.Name)
	m.macro("SH NAME")
	m.text(c.Name + " - " + about)
	m.macro("SH SYNOPSIS")
	m.text(`\fB` + roff(c.Name) + `\fP [\fIcommand\fP] [\fIflags\fP] [\fIarguments\fP]`)
	m.macro("SH DESCRIPTION")
	m.macro("nf")
	m.text(roff(description))
	m.macro("fi")
	m.macro("SH OPTIONS")
	m.flags(c.Flags)
	m.macro("SH COMMANDS")
	c.Every(func(sub *Command) {
		if sub == c || sub.Hidden {
			return
		}
		m.macro("SS %s", roff(sub.Usage()))
		m.text(roff(sub.Help))
		for text := range strings.SplitSeq(strings.TrimSpace(sub.Detail), "\n\n") {
			if text != "" {
				m.macro("PP")
				m.text(roff(text))
			}
		}
		for _, v := range sub.Arguments {
			m.item(v.String(), v.Help)
		}
		m.flags(sub.Flags)
	})
	_, err := io.WriteString(w, m.b.String())
	return err
}

type manual struct{ b strings.Builder }

func (m *manual) macro(format string, args ...any) {
	fmt.Fprintf(&m.b, "."+format+"\n", args...)
}

func (m *manual) text(text string) { m.b.WriteString(text + "\n") }

func (m *manual) item(name, text string) {
	m.macro("TP")
	m.text(`\fB` + roff(name) + `\fP`)
	m.text(roff(text))
}

func (m *manual) flags(flags []*Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := f.called()
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		m.item(name, f.says())
	}
}

// roff is a text in which nothing is a macro or an escape.
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

func roff(text string) string {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + escapes.Replace(text)
		return text
	}
	return escapes.Replace(text)
}

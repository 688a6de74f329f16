package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manFlag writes a man page instead of doing the rest of the command line.
type manFlag bool

func (manFlag) BeforeReset(k *kong.Kong) error {
	err := writeManual(k.Stdout, k.Model.Node)
	k.Exit(0)
	return err
}

// writeManual writes a page for man with the macros of man(7). It has no date, so that two builds are equal.
func writeManual(w io.Writer, program *kong.Node) error {
	about, description, _ := strings.Cut(usage, "\n")
	m := new(manual)
	m.macro(`TH %s 1 "" %s ""`, strings.ToUpper(program.Name), program.Name)
	m.macro("SH NAME")
	m.text(program.Name + " - " + strings.TrimPrefix(strings.TrimSuffix(about, "."), "unstall "))
	m.macro("SH SYNOPSIS")
	m.text(`\fB` + program.Name + `\fP [\fIcommand\fP] [\fIflags\fP] [\fIarguments\fP]`)
	m.macro("SH DESCRIPTION")
	m.macro("nf")
	m.text(escape(strings.Trim(description, "\n")))
	m.macro("fi")
	m.macro("SH OPTIONS")
	m.flags(program.Flags)
	m.macro("SH COMMANDS")
	for _, command := range program.Children {
		if command.Hidden {
			continue
		}
		m.macro("SS %s", escape(program.Name+" "+command.Summary()))
		m.text(escape(command.Help))
		for _, v := range command.Positional {
			m.item(v.Summary(), v.Help)
		}
		m.flags(command.Flags)
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

type manual struct{ b strings.Builder }

func (m *manual) macro(format string, args ...any) { fmt.Fprintf(&m.b, "."+format+"\n", args...) }

func (m *manual) text(text string) { m.b.WriteString(text + "\n") }

func (m *manual) item(name, text string) {
	m.macro("TP")
	m.text(`\fB` + escape(name) + `\fP`)
	m.text(escape(text))
}

func (m *manual) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := f.Summary()
		if f.Tag.Negatable != "" {
			name = "--[no-]" + f.Name
		}
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		m.item(name, kong.DefaultHelpValueFormatter(f.Value))
	}
}

var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

// escape returns a text in which roff finds no macro and no escape.
func escape(text string) string {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + escapes.Replace(text)
	}
	return escapes.Replace(text)
}

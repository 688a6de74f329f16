package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manFlag writes a man page instead of running the command line.
type manFlag bool

func (manFlag) BeforeReset(k *kong.Kong) error {
	err := writeManual(k.Stdout, k.Model.Node)
	k.Exit(0)
	return err
}

// writeManual writes a man page with the macros of man(7). The page has no date, so that two builds are equal.
func writeManual(w io.Writer, program *kong.Node) error {
	about, description, _ := strings.Cut(usage, "\n")
	m := new(manual)
	m.writeMacro(`TH %s 1 "" %s ""`, strings.ToUpper(program.Name), program.Name)
	m.writeMacro("SH NAME")
	m.writeText(program.Name + " - " + strings.TrimPrefix(strings.TrimSuffix(about, "."), "unstall "))
	m.writeMacro("SH SYNOPSIS")
	m.writeText(`\fB` + program.Name + `\fP [\fIcommand\fP] [\fIflags\fP] [\fIarguments\fP]`)
	m.writeMacro("SH DESCRIPTION")
	m.writeMacro("nf")
	m.writeText(escapeRoff(strings.Trim(description, "\n")))
	m.writeMacro("fi")
	m.writeMacro("SH OPTIONS")
	m.writeFlags(program.Flags)
	m.writeMacro("SH COMMANDS")
	for _, command := range program.Children {
		if command.Hidden {
			continue
		}
		m.writeMacro("SS %s", escapeRoff(program.Name+" "+command.Summary()))
		m.writeText(escapeRoff(command.Help))
		for _, v := range command.Positional {
			m.writeItem(v.Summary(), v.Help)
		}
		m.writeFlags(command.Flags)
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

type manual struct{ b strings.Builder }

func (m *manual) writeMacro(format string, args ...any) { fmt.Fprintf(&m.b, "."+format+"\n", args...) }

func (m *manual) writeText(text string) { m.b.WriteString(text + "\n") }

func (m *manual) writeItem(name, text string) {
	m.writeMacro("TP")
	m.writeText(`\fB` + escapeRoff(name) + `\fP`)
	m.writeText(escapeRoff(text))
}

func (m *manual) writeFlags(flags []*kong.Flag) {
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
		m.writeItem(name, kong.DefaultHelpValueFormatter(f.Value))
	}
}

var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

// escapeRoff escapes a text so that roff finds no macro and no escape in it.
func escapeRoff(text string) string {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + escapes.Replace(text)
	}
	return escapes.Replace(text)
}

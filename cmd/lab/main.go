// Command lab runs incidents: services that are sick on purpose, their fixes, and healthy twins, under known loads and with
// known answers. The built program is bin/unstall-lab.
//
// Exit codes: 0 all results as expected, 1 some were not, 2 wrong use, 3 it could not run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/lab/all"
)

type cli struct {
	Demo  demoCommand  `cmd:"" help:"The first minute: a sick gateway is diagnosed, gets the setting that unstall advises, and is compared."`
	List  listCommand  `cmd:"" help:"List the incidents that can be run here."`
	Run   runCommand   `cmd:"" help:"Run one: sick, fixed and healthy services under load, diagnosed and compared."`
	Score scoreCommand `cmd:"" help:"Run all, and count expected answers and false alarms."`
}

// Exit codes. Of several the highest is returned.
const (
	missed   = 1
	wrongUse = 2
	notRun   = 3
)

// release is the version that the linker sets.
var release = "(devel)"

func main() {
	if len(os.Args) > 1 && os.Args[1] == experiment.GuardCommand { // the process that restores settings of the host if a lab is killed
		if err := experiment.Guard(os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "unstall-lab: %v\n", err)
			os.Exit(wrongUse)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := &session{Context: ctx, out: os.Stdout, err: os.Stderr}
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := newParser().Parse(args)
	if err == nil {
		err = command.Run(s)
	}
	if err != nil {
		s.reportError(wrongUse, err)
	}
	os.Exit(s.code)
}

func newParser(options ...kong.Option) *kong.Kong {
	return kong.Must(new(cli), append(options, kong.Name("unstall-lab"), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))...)
}

// session is one run of a command.
type session struct {
	context.Context
	out, err io.Writer
	code     int
}

// reportError prints an error, one line for each that is joined in it, and raises the exit code.
func (s *session) reportError(code int, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(s.err, "unstall-lab: %s\n", strings.TrimSpace(line))
	}
	s.code = max(s.code, code)
}

// writeOutput renders into a file, or to standard output if name is empty.
func (s *session) writeOutput(name string, render func(io.Writer) error) {
	if name == "" {
		if err := render(s.out); err != nil {
			s.reportError(notRun, err)
		}
		return
	}
	f, err := os.Create(name)
	if err == nil {
		err = errors.Join(render(f), f.Close())
	}
	if err != nil {
		s.reportError(notRun, err)
	}
}

type listCommand struct{}

func (*listCommand) Run(s *session) error {
	for _, l := range all.Labs {
		fmt.Fprintf(s.out, "%-12s %s\n", l.Name, l.About)
		for _, v := range l.Variants {
			fmt.Fprintf(s.out, "  %-18s %s\n", v.Name, v.About)
		}
	}
	return nil
}

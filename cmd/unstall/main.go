// Command unstall finds which mechanism in a runtime or the kernel makes a
// service's requests slow. This package wires packages into subcommands, each with a file of its own.
//
// Exit codes: 0 done; 1 a cause is supported (with --fail) or a comparison regressed; 2 wrong use; 3 a target or file could not be
// read, or runs cannot be compared. With 3, the results of the other targets and files are printed all the same.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/remote"
	"github.com/unstall/unstall/internal/operate/calibrate"
	"github.com/unstall/unstall/internal/operate/experiment"
)

type cli struct {
	Diagnose  diagnoseCommand  `cmd:"" default:"withargs" help:"Find why requests are slow and what to change (the default)."`
	Record    recordCommand    `cmd:"" help:"Record a process into a capture, to diagnose later."`
	List      listCommand      `cmd:"" help:"List the processes here that can be diagnosed (the default without a target)."`
	Inspect   inspectCommand   `cmd:"" help:"Show what files hold, without a verdict."`
	Explain   explainCommand   `cmd:"" help:"Show what one request spent its time on, in ten lines."`
	Export    exportCommand    `cmd:"" help:"Write what files hold for other tools: go tool pprof, speedscope, Perfetto, CSV, stacks."`
	Load      loadCommand      `cmd:"" help:"Send requests on a schedule and report their latency."`
	Compare   compareCommand   `cmd:"" help:"Show whether a change helped, from runs before and after it."`
	Predict   predictCommand   `cmd:"" help:"Predict the effect of a setting: the heap of a Go process, the thread pool of a .NET process, the young generation of a JVM."`
	Try       tryCommand       `cmd:"" help:"Change a setting under the current load, measure its effect, and restore it."`
	Host      hostCommand      `cmd:"" help:"Find what is wrong with this machine, and which services it slows."`
	Fleet     fleetCommand     `cmd:"" help:"Show slow time on many hosts, from a store of metrics: by cause, service and host, and versions that made it worse."`
	Calibrate calibrateCommand `cmd:"" help:"Compare kernel counters of a process with known workloads."`
	Launch    launchCommand    `cmd:"" name:"run" help:"Run a command with its own setting, such as without transparent huge pages."`
	Top       topCommand       `cmd:"" help:"Show a process's counters live, with rules for reading them."`
	Watch     watchCommand     `cmd:"" help:"Watch processes with rules, keep the minutes before an alarm, and diagnose it."`
	Serve     serveCommand     `cmd:"" help:"Show the captures of a directory as pages: list, search, open, compare, record."`
	MCP       mcpCommand       `cmd:"" name:"mcp" help:"Serve the tools to an assistant, by the Model Context Protocol on standard input and output."`
	Causes    causesCommand    `cmd:"" help:"List the causes unstall knows, or explain one."`
	Debug     debugCommand     `cmd:"" help:"Print or run the command that records a pod or container from a sidecar, with the least rights."`
	Version   versionCommand   `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Show how to set up completion of commands and flags in a shell: bash, zsh, fish."`
	Man        manFlag           `hidden:"" help:"Write a man page."`
	Lab        labCommand        `cmd:"" hidden:"" passthrough:"" help:"Show where the incidents went."`

	NoPager bool `name:"no-pager" help:"Do not use a pager for long output (UNSTALL_PAGER, PAGER, less)."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

const usage = `unstall finds which mechanism in a runtime or the kernel makes requests slow.

  unstall [list]           list the processes here that can be diagnosed
  unstall TARGET           record a process for 30 s, then show why its requests are slow:
                           its PID, its name, the URL of its net/http/pprof, its
                           container (docker://shop, container:ID) or pod (pod/shop-7f9);
                           on another host: ssh://HOST/PID (ssh://HOST lists what runs there)
  unstall FILE...          diagnose captures, traces, profiles, GC logs, access logs
                           and load results, alone or together
  unstall record TARGET    only record, to diagnose later
  unstall load URL         send requests on a schedule and report their latency
  unstall compare A B      show whether a change helped
  unstall host             find what is wrong with this machine and what it slows
  unstall fleet            show slow time on many hosts, from their store of metrics
  unstall watch TARGET...  watch with rules, keep the minutes before an alarm, diagnose it
  unstall calibrate TARGET compare kernel counters of a process with known workloads
  unstall predict FILE...  predict the effect of a setting
  unstall try NAME=VALUE   change a setting, measure the effect, restore it
  unstall run -- COMMAND   run a command with its own setting (--thp)
  unstall top TARGET       show a process's counters live (.NET, JVM, Go, /proc)
  unstall inspect FILE...  show what files hold, without a verdict
  unstall explain FILE...  show what the slowest request, or a given one, spent its time on
  unstall export FILE...   convert it for go tool pprof, speedscope or Perfetto, or to CSV
  unstall serve [DIR]      show the captures of a directory as pages in a browser
  unstall mcp [DIR]        let an assistant diagnose the captures in a directory
  unstall debug pod/NAME   print the command that records a pod from a sidecar container
  unstall causes [ID]      list the causes unstall knows, or explain one
  unstall completion       show how to set up completion in a shell

  unstall gateway --for 10s --load http://127.0.0.1:8080/play -r 500
  unstall trace.out access.log.gz --slo 300ms -o report.md
  kubectl logs gateway --timestamps | unstall -

All flags: unstall help, unstall help COMMAND. Defaults for flags: unstall.yaml, in the current directory or in
the user's configuration (slo: 300ms), and UNSTALL_SLO, UNSTALL_BASELINE, UNSTALL_FOR, UNSTALL_FORMAT, UNSTALL_COLOR.
`

func main() {
	args := kubectlArgs(os.Args[0], os.Args[1:])
	switch {
	case len(args) == 0:
		args = []string{"list"}
	case args[0] == "help" && len(args) > 2:
		fmt.Fprintf(os.Stderr, "unstall: help %s: give one command; see unstall help\n", strings.Join(args[1:], " "))
		os.Exit(wrongUse)
	case args[0] == "help" && len(args) == 2 && args[1] != "help":
		args = append(args[1:], "--help")
	case args[0] == "help", len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
		fmt.Print(usage, "\n")
		args = []string{"diagnose", "--help"}
	}
	if err := unknownCommand(args); err != nil {
		fmt.Fprintf(os.Stderr, "unstall: %v\n", err)
		os.Exit(wrongUse)
	}
	if len(args) > 0 && args[0] == experiment.GuardCommand {
		if err := experiment.Guard(args[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "unstall: %v\n", err)
			os.Exit(wrongUse)
		}
		return
	}
	if len(args) > 0 && args[0] == calibrate.LoadCommand {
		if err := calibrate.Play(args[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "unstall: %v\n", err)
			os.Exit(wrongUse)
		}
		return
	}
	if len(args) == 2 && args[0] == remote.GuestCommand {
		if err := runGuest(args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "unstall: %v\n", err)
			os.Exit(wrongUse)
		}
		return
	}
	s := &session{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "UNSTALL_") && value == "" {
			_ = os.Unsetenv(name) // an empty value counts as not set
		}
	}
	resolver, err := readDefaults(defaultsName())
	if err != nil {
		s.reportError(wrongUse, err)
		os.Exit(s.code)
	}
	parser := newParser(kong.Resolvers(resolver))
	if line, typed := os.LookupEnv("COMP_LINE"); typed { // a shell asks for completions
		for _, word := range completeLine(parser.Model.Node, line) {
			fmt.Println(word)
		}
		return
	}
	command, err := parser.Parse(normalizeArgs(args))
	if err != nil {
		s.reportError(wrongUse, usageError(err))
		os.Exit(s.code)
	}
	s.noPager = parser.Model.Target.Interface().(cli).NoPager
	if s.given = givenOn(command); s.given.checkContradictions() != nil {
		s.reportError(wrongUse, s.given.checkContradictions())
		os.Exit(s.code)
	}
	restoreLeftovers(s)
	if err := command.Run(s); err != nil {
		s.reportError(wrongUse, err)
	}
	os.Exit(s.code)
}

// restoreLeftovers switches off what killed recordings left switched on, and restores settings that interrupted tries changed. The
// program calls it at every start.
func restoreLeftovers(s *session) {
	experiment.RestoreLeftovers(context.Background(), func(text string) { fmt.Fprintf(s.err, "unstall: %s\n", text) })
	for _, p := range all.Probes {
		if p.Tidy != nil {
			p.Tidy(context.Background(), func(text string) { fmt.Fprintf(s.err, "unstall: %s\n", text) })
		}
	}
}

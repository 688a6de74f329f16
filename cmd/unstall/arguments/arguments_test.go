package arguments

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

type tool struct {
	Look  look  `cmd:"" default:"withargs" help:"Look at files."`
	Run   run   `cmd:"" help:"Run a command."`
	Group group `cmd:"" help:"Several."`
	Quiet bool  `short:"q" help:"Say less."`
	Man   bool  `hidden:"" instead:"" help:"Write a page."`
}

type look struct {
	Files   []string       `arg:"" optional:"" name:"file" help:"What to look at."`
	Limit   *time.Duration `name:"slo" env:"ARGUMENTS_SLO" placeholder:"300ms" help:"The limit."`
	Color   string         `default:"auto" enum:"auto,never" help:"One of ${enum}."`
	Names   []string       `placeholder:"NAME" help:"Names of ${things}."`
	Header  []string       `short:"H" sep:"none" help:"A header."`
	Before  words          `placeholder:"RUN..." help:"Several."`
	Record  bool           `negatable:"" default:"true" help:"Record."`
	N       int            `short:"n" default:"3" help:"How many."`
	Ramp    string         `xor:"p" help:"One."`
	Steps   string         `xor:"p" help:"Other."`
	further `group:"More of it"`
}

type further struct {
	MinEffect float64 `help:"The least."`
}

type run struct {
	Mode    string   `required:"" enum:"on,off" help:"How."`
	Command []string `arg:"" passthrough:"" help:"What."`
}

type group struct {
	One struct {
		Name string `arg:"" help:"Which."`
	} `cmd:"" help:"The first."`
	Two struct{} `cmd:"" help:"The second."`
}

type words []string

func (w *words) Take(next func() (string, bool)) error {
	for s, ok := next(); ok; s, ok = next() {
		*w = append(*w, s)
	}
	return nil
}

func tested() (*tool, *Command) {
	x := new(tool)
	return x, New("tool", x, Vars{"things": "things"})
}

func TestParse(t *testing.T) {
	file := func(flag string) any {
		return map[string]any{"names": []any{"x", 7}, "n": 9}[flag]
	}
	for _, c := range []struct{ line, want string }{
		{"a b", `look [a b] auto [x 7] [] [] true 9 0`},
		{"look a --names=p,q b -n5", `look [a b] auto [p q] [] [] true 5 0`},
		{"-qn 4 -H a,b -H=c --no-record --slo 2s -", `look [-] auto [x 7] [a,b c] [] false 4 0 2s quiet`},
		{"--before r1 r2 --min-effect=-.5 -- -a", `look [-a] auto [x 7] [] [r1 r2] true 9 -0.5`},
		{"a,v2.log b", `look [a,v2.log b] auto [x 7] [] [] true 9 0`},
		{"run --mode on ls -l a,b", `run on [ls -l a,b]`},
		{"--color=never", `look [] never [x 7] [] [] true 9 0`},
		{"run --mode off ls -l -- x", `run off [ls -l -- x]`},
		{"run --mode=on -- ls -l", `run on [ls -l]`},
		{"group one x", `one x`},
		{"run --help", `help tool run`},
		{"inspect --man", `instead`},
		{"--bogus", `unknown flag --bogus`},
		{"--name x", `unknown flag --name, did you mean --names?`},
		{"-z", `unknown flag -z`},
		{"--slo 3", `--slo: "3" has no unit: give 3ms or 3s`},
		{"--slo soon", `--slo: "soon" is not a time: give 300ms, 2s or 5m`},
		{"-n x", `--n: "x" is not a whole number`},
		{"-n -4", `look [] auto [x 7] [] [] true -4 0`}, // whoever takes it says what is wrong with it
		{"-n", `--n: expected a value`},
		{"-n --slo", `--n: expected a value but got the flag --slo: perhaps --n="--slo"?`},
		{"--record=perhaps", `--record: "perhaps" is neither true nor false`},
		{"--color=green", `--color must be one of "auto","never" but got "green"`},
		{"--ramp 1 --steps 2", `--ramp and --steps can't be used together`},
		{"run x", `missing flags: --mode=STRING`},
		{"run --mode on", `expected "<command> ..."`},
		{"group", `expected one of "one", "two"`},
		{"group thre", `unexpected argument thre`},
		{"group tow", `unexpected argument tow, did you mean two?`},
		{"-n 1 run --mode on x", `flag --n applies to the default command "look", not "run"`},
	} {
		x, program := tested()
		line, err := program.Parse(strings.Fields(c.line), file)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case line.Help:
			got = "help " + line.Command.Path()
		case line.Instead != nil:
			got = "instead"
		case line.Command.Name == "run":
			got = fmt.Sprint("run ", x.Run.Mode, " ", x.Run.Command)
		case line.Command.Name == "one":
			got = "one " + x.Group.One.Name
		default:
			l := x.Look
			got = fmt.Sprint(line.Command.Name, " ", l.Files, " ", l.Color, " ", l.Names, " ", l.Header, " ", l.Before, " ", l.Record, " ", l.N, " ", l.MinEffect)
			if l.Limit != nil {
				got += " " + l.Limit.String()
			}
			if x.Quiet {
				got += " quiet"
			}
		}
		if got != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.line, got, c.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ARGUMENTS_SLO", "4s")
	for line, want := range map[string]string{"a": "4s", "a --slo 5s": "5s"} {
		x, program := tested()
		if _, err := program.Parse(strings.Fields(line), nil); err != nil || x.Look.Limit.String() != want {
			t.Errorf("%s: %v, %v", line, x.Look.Limit, err)
		}
	}
	t.Setenv("ARGUMENTS_SLO", "soon")
	_, program := tested()
	if _, err := program.Parse([]string{"a"}, nil); err == nil || !strings.Contains(err.Error(), `ARGUMENTS_SLO="soon"`) {
		t.Error(err)
	}
	if _, err := program.Parse([]string{"group", "two"}, nil); err != nil { // which has no such flag
		t.Error(err)
	}
}

const wantHelp = `Usage: tool look [<file> ...] [flags]

Look at files.

Arguments:
  [<file> ...]    What to look at.

Flags:
  -h, --help              Show this help.
  -q, --quiet             Say less.

      --slo=300ms         The limit ($ARGUMENTS_SLO).
      --color="auto"      One of auto,never.
      --names=NAME,...    Names of things.
  -H, --header=STRING     A header.
      --before=RUN...     Several.
      --[no-]record       Record.
  -n, --n=3               How many.
      --ramp=STRING       One.
      --steps=STRING      Other.

More of it
      --min-effect=N    The least.
`

func TestHelp(t *testing.T) {
	_, program := tested()
	var b strings.Builder
	if err := program.Commands[0].WriteHelp(&b, 80); err != nil {
		t.Fatal(err)
	}
	if b.String() != wantHelp {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	_ = program.WriteHelp(&b, 80)
	for _, want := range []string{"Usage: tool <command> [flags]", "  group one", "Run \"tool <command> --help\""} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	_ = program.WriteManual(&b, "looks", "  tool x\n.not a macro")
	for _, want := range []string{".TH TOOL 1", ".SS tool look [<file> ...] [flags]", "\n\\&.not a macro", `\-\-[no\-]record`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"tool r": "run", "tool ": "look run group", "tool group ": "one two", "tool --co": "--color", "tool --color ": "auto never",
		"tool --color=n": "never", "tool run --m": "--mode", "tool look --slo ": "", "tool look fi": "", "tool": "",
	} {
		_, program := tested()
		if got := strings.Join(program.Complete(line), " "); got != want {
			t.Errorf("%q: %s, not %s", line, got, want)
		}
	}
}

// TestWrapped sets no line beyond its width, unless a word is.
func TestWrapped(t *testing.T) {
	for _, line := range wrapped("one two three four a-word-that-is-too-long five", 10) {
		if len(line) > 10 && strings.Contains(line, " ") {
			t.Errorf("%q", line)
		}
	}
}

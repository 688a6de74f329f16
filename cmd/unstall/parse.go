package main

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/present"
)

// newParser returns the parser of the command line.
func newParser(options ...kong.Option) *kong.Kong {
	k := kong.Must(new(cli), append([]kong.Option{
		kong.Name("unstall"),
		kong.Vars{"version": versionLine(), "model_processes": platform.Modelled(), "model_knobs": platform.Knobs(),
			"model_defaults": model.Defaults(platform.Models()), "settings": experiment.Help()},
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(parseDuration)),
		kong.KindMapper(reflect.Float64, kong.MapperFunc(parseNumber)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}, options...)...)
	for _, command := range k.Model.Children {
		describeForms(command)
	}
	return k
}

// formsOf says which forms a command writes, for those that do not write all forms of a diagnosis.
var formsOf = map[string]func(present.Form) bool{
	"compare":   canCompare,
	"inspect":   func(f present.Form) bool { return f.Inspect != nil },
	"predict":   func(f present.Form) bool { return f.Predict != nil },
	"try":       func(f present.Form) bool { return f.Try != nil },
	"host":      func(f present.Form) bool { return f.Host != nil },
	"calibrate": func(f present.Form) bool { return f.Calibrate != nil },
	"fleet":     func(f present.Form) bool { return f.Fleet != nil },
}

// describeForms lists in the help of a command's --format the forms that the command writes.
func describeForms(command *kong.Node) {
	has := formsOf[command.Name]
	if has == nil {
		return
	}
	for _, f := range command.Flags {
		if f.Name == "format" {
			f.Help = present.NamesOf(", ", has) + " (default: by the name of the output file)."
		}
	}
}

// parseDuration reads a time. Its error shows the form of one.
func parseDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("duration")
	if err != nil {
		return err
	}
	text := token.String()
	d, err := time.ParseDuration(text)
	if _, number := strconv.ParseFloat(text, 64); err != nil && number == nil {
		return fmt.Errorf("%q has no unit: give %sms or %ss", text, text, text)
	} else if err != nil {
		return fmt.Errorf("%q is not a time: give 300ms, 2s or 5m", text)
	}
	target.SetInt(int64(d))
	return nil
}

// parseNumber reads a finite number.
func parseNumber(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("number")
	if err != nil {
		return err
	}
	v, err := strconv.ParseFloat(token.String(), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is not a number", token.String())
	}
	target.SetFloat(v)
	return nil
}

// usageError words an error of the parser for users. It names the nearest name instead of all that are two letters away, and no
// token.
func usageError(err error) error {
	text := strings.Replace(err.Error(), ` but got "EOL" (<EOL>)`, "", 1)
	if fault, names, several := strings.Cut(text, ", did you mean one of "); several {
		text = fault
		word := fault[strings.LastIndexByte(fault, ' ')+1:]
		near := suggest.Nearest(word, strings.FieldsFunc(names, func(r rune) bool { return strings.ContainsRune(`", ?`, r) }))
		if near != "" && len(word) > len("-x") {
			text += fmt.Sprintf(", did you mean %q?", near)
		}
	}
	if name, unknown := strings.CutPrefix(text, "unknown flag --"); unknown {
		name, _, _ = strings.Cut(name, ",")
		if of := commandsWithFlag(name); len(of) > 0 {
			text = "unknown flag --" + name + ": it is a flag of " + strings.Join(of, ", ")
		}
	}
	text = strings.Replace(text, "missing flags: ", "give ", 1)
	if m := missingArgument.FindStringSubmatch(text); m != nil {
		of := map[bool]string{false: "give the ", true: "give at least one "}[m[2] != ""]
		text = of + strings.Replace(m[1], "url", "URL", 1)
	}
	return fmt.Errorf("%s; see %s", text, helpOf(err))
}

// missingArgument matches how the parser names what is not given: expected "<file> ...".
var missingArgument = regexp.MustCompile(`^expected "<([a-z]+)>( \.\.\.)?"$`)

// commandsWithFlag returns the commands that have a flag, as they are typed; at most three.
func commandsWithFlag(name string) (typed []string) {
	for _, c := range newParser().Model.Children {
		if c.Hidden || len(typed) == 3 || !slices.ContainsFunc(c.Flags, func(f *kong.Flag) bool { return f.Name == name }) {
			continue
		}
		word := c.Name
		if word == "diagnose" {
			word = "TARGET" // the default command is not typed
		}
		typed = append(typed, "unstall "+word)
	}
	return typed
}

// helpOf returns the command that shows the help of the mistyped command: "unstall help record".
func helpOf(err error) string {
	var of *kong.ParseError
	if errors.As(err, &of) && of.Context != nil {
		if command := of.Context.Selected(); command != nil && command.Name != "diagnose" {
			return "unstall help " + command.Name
		}
	}
	return "unstall help"
}

// shortValue matches a letter with its value, such as -o=report.html.
var shortValue = regexp.MustCompile(`^-[[:alpha:]]=`)

// normalizeArgs rewrites arguments for the parser, which takes "--since -10m" for two flags, and the "=" in "-o=report.html" for a
// part of the value.
func normalizeArgs(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--" || i == 0 && a == "run": // the rest belongs to another program
			return append(out, args[i:]...)
		case (a == "--since" || a == "--until") && i+1 < len(args) && strings.HasPrefix(args[i+1], "-") && !strings.HasPrefix(args[i+1], "--"):
			i++
			out = append(out, a+"="+args[i])
		case shortValue.MatchString(a):
			out = append(out, a[:2], a[3:])
		default:
			out = append(out, a)
		}
	}
	return out
}

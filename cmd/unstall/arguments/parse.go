package arguments

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/suggest"
)

// Line is a command line that was read.
type Line struct {
	Command *Command // the one that was asked for; the program, if none was
	Flags   []*Flag  // that stand on the line, in their order
	Help    bool     // help of the command was asked for; nothing was checked then
	Instead *Flag    // that was asked for instead of the rest, nil none; the same
}

// Defaults give the value of a flag that is neither on the line nor the default one, nil none. A
// list has a value for each element.
type Defaults func(flag string) any

// Parse reads a line, without the program's name, and sets the fields of the command that it calls.
// What is not on the line comes from the environment, else from defaults, else from the tags.
func (c *Command) Parse(args []string, defaults Defaults) (*Line, error) {
	l := &line{Line: Line{Command: c}, words: args, given: make(map[*Value]bool)}
	c.Every(func(c *Command) { c.reset() })
	if err := l.read(); err != nil || l.Help || l.Instead != nil {
		return &l.Line, err
	}
	if l.Command.Default != nil {
		l.Command = l.Command.Default
	}
	if err := l.rest(defaults); err != nil {
		return &l.Line, err
	}
	return &l.Line, l.check()
}

// line is one while it is read.
type line struct {
	Line
	words []string // that are left
	given map[*Value]bool
	place int  // of the next argument
	only  bool // there are no flags any more: -- was there
}

func (c *Command) reset() {
	for _, v := range c.values() {
		v.set = false
		v.target.SetZero()
	}
}

// values are those of a command itself.
func (c *Command) values() (all []*Value) {
	for _, f := range c.Flags {
		all = append(all, &f.Value)
	}
	return append(all, c.Arguments...)
}

func (l *line) read() error {
	for len(l.words) > 0 {
		word := l.words[0]
		var err error
		switch {
		case l.only || !flagged(word):
			err = l.argument(word)
		case word == "--":
			l.words, l.only = l.words[1:], true
		case word == "--help" || word == "-h":
			l.words, l.Help = l.words[1:], true
		case strings.HasPrefix(word, "--"):
			l.words = l.words[1:]
			name, value, has := strings.Cut(word[2:], "=")
			err = l.long(name, value, has)
		default:
			l.words = l.words[1:]
			err = l.letters(word[1:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flagged says whether a word is a flag; - alone is standard input.
func flagged(word string) bool { return len(word) > 1 && word[0] == '-' }

// negative says whether a word is a figure below zero; no flag begins with a digit.
func negative(word string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9'
}

// argument takes a word that is no flag: as an argument, else as the name of a command, else as an
// argument of the command that is meant if none is named.
func (l *line) argument(word string) error {
	c := l.Command
	if l.place < len(c.Arguments) {
		return l.positional(c.Arguments[l.place])
	}
	for _, sub := range c.Commands {
		if sub.Name != word {
			continue
		}
		for _, f := range l.Flags {
			if c.Default != nil && c.Default != sub && slices.Contains(c.Default.Flags, f) {
				return fmt.Errorf("flag --%s applies to the default command %q, not %q", f.Name, c.Default.Name, sub.Name)
			}
		}
		l.Command, l.place, l.words = sub, 0, l.words[1:]
		return nil
	}
	if c.Default != nil {
		l.Command, l.place = c.Default, 0
		return nil
	}
	var names []string
	for _, sub := range c.Commands {
		names = append(names, sub.Name)
	}
	return fmt.Errorf("unexpected argument %s%s", word, meant(word, names))
}

// positional takes an argument, all that are left if it is a list.
func (l *line) positional(v *Value) error {
	l.place++
	l.given[v] = true
	l.only = l.only || v.Passthrough
	for {
		if err := v.read(l.words[0]); err != nil {
			return err
		}
		l.words = l.words[1:]
		if !v.list() || len(l.words) == 0 {
			return nil
		}
		if !l.only && flagged(l.words[0]) {
			l.place-- // more may come behind the flags
			return nil
		}
	}
}

// flags are those that may stand on the line here.
func (l *line) flags() []*Flag {
	if l.Command.Default != nil {
		return l.Command.Default.All()
	}
	return l.Command.All()
}

func (l *line) long(name, value string, has bool) error {
	var names []string
	for _, f := range l.flags() {
		switch {
		case f.Name == name:
			return l.flag(f, value, has)
		case f.Negatable && "no-"+f.Name == name && !has:
			return l.flag(f, "false", true)
		}
		names = append(names, f.Name)
	}
	return fmt.Errorf("unknown flag --%s%s", name, strings.Replace(meant(name, names), "mean ", "mean --", 1))
}

// letters takes -rf, -r5 and -r=5.
func (l *line) letters(word string) error {
	for i, r := range word {
		at := slices.IndexFunc(l.flags(), func(f *Flag) bool { return f.Short == r })
		if at < 0 {
			return fmt.Errorf("unknown flag -%c", r)
		}
		f := l.flags()[at]
		tail := word[i+len(string(r)):]
		if value, ok := strings.CutPrefix(tail, "="); ok {
			return l.flag(f, value, true)
		}
		if !f.bool() {
			return l.flag(f, tail, tail != "")
		}
		if err := l.flag(f, "", false); err != nil {
			return err
		}
	}
	return nil
}

// flag sets one, to the value that belongs to it or to the next word.
func (l *line) flag(f *Flag, value string, has bool) error {
	if !l.given[&f.Value] {
		l.given[&f.Value] = true
		f.target.SetZero()
		l.Flags = append(l.Flags, f)
	}
	if f.Instead {
		l.Instead = f
	}
	if taker(f.target.Type()) {
		return l.several(f, value, has)
	}
	switch {
	case has:
		return f.read(value)
	case f.bool():
		return f.read("true")
	case len(l.words) == 0:
		return fmt.Errorf("%s: expected a value", f)
	case flagged(l.words[0]) && !negative(l.words[0]):
		return fmt.Errorf("%s: expected a value but got the flag %s: perhaps %s=%q?", f, l.words[0], f, l.words[0])
	}
	value, l.words = l.words[0], l.words[1:]
	return f.read(value)
}

// several gives a flag its words.
func (l *line) several(f *Flag, value string, has bool) error {
	f.set = true
	err := f.target.Addr().Interface().(Taker).Take(func() (string, bool) {
		if has {
			has = false
			return value, true
		}
		if len(l.words) == 0 || flagged(l.words[0]) {
			return "", false
		}
		word := l.words[0]
		l.words = l.words[1:]
		return word, true
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f, err)
	}
	return nil
}

// meant is what somebody meant who mistyped a name, as the end of a sentence.
func meant(word string, names []string) string {
	if near := suggest.Nearest(word, names); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}

// chain are a command and those it is below, outermost first.
func (c *Command) chain() []*Command {
	if c.Parent == nil {
		return []*Command{c}
	}
	return append(c.Parent.chain(), c)
}

// rest gives what is not on the line its value.
func (l *line) rest(defaults Defaults) error {
	for _, c := range l.Command.chain() {
		for _, v := range c.values() {
			if l.given[v] {
				continue
			}
			if err := v.otherwise(defaults); err != nil {
				return err
			}
		}
	}
	return nil
}

// otherwise is the value of what is not on the line.
func (v *Value) otherwise(defaults Defaults) error {
	if text, ok := os.LookupEnv(v.Env); ok && v.Env != "" {
		if err := v.read(text); err != nil {
			return fmt.Errorf("%w (from %s=%q in the environment)", err, v.Env, text)
		}
		return nil
	}
	if v.flag && defaults != nil {
		if x := defaults(v.Name); x != nil {
			if many, ok := x.([]any); ok && v.list() {
				for _, one := range many {
					if err := v.read(fmt.Sprint(one)); err != nil {
						return err
					}
				}
				return nil
			}
			return v.read(fmt.Sprint(x))
		}
	}
	if v.HasDefault {
		return v.read(v.Default)
	}
	return nil
}

// check refuses a line that lacks something or has too much.
func (l *line) check() error {
	chosen := make(map[string]*Flag)
	var missing []string
	for _, f := range l.Command.All() {
		if err := f.check(); err != nil {
			return err
		}
		if f.Required && !f.set {
			missing = append(missing, f.called())
		}
		if f.Xor == "" || !l.given[&f.Value] {
			continue
		}
		if other := chosen[f.Xor]; other != nil {
			return fmt.Errorf("%s and %s can't be used together", other, f)
		}
		chosen[f.Xor] = f
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
	}
	for _, v := range l.Command.Arguments {
		if err := v.check(); err != nil {
			return err
		}
		if v.Required && !v.set {
			missing = append(missing, v.String())
		}
	}
	if len(missing) > 0 {
		return errors.New("expected " + strconv.Quote(strings.Join(missing, " ")))
	}
	return l.Command.chosen()
}

// chosen refuses a command that only has commands below it.
func (c *Command) chosen() error {
	var names []string
	for _, sub := range c.Commands {
		if !sub.Hidden {
			names = append(names, strconv.Quote(sub.Name))
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return errors.New("expected " + names[0])
	}
	return errors.New("expected one of " + strings.Join(names, ", "))
}

// kind is what a value is called that has no placeholder.
func kind(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice && t.Name() == "":
		return kind(t.Elem())
	case t.String() == "time.Duration":
		return "DURATION"
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Float64:
		return "N"
	}
	return "STRING"
}

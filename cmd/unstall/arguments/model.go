// Package arguments reads a command line into a struct whose fields are commands, flags and
// arguments, as their tags say, and writes help, a manual page and completions from the same tags:
//
//	cmd:""            a command: a struct of its own flags, arguments and commands
//	arg:""            an argument by its place; a flag is what has neither
//	name:"x"          its name (default: the field's in lower case, with - between words)
//	help:"text"       what it is for; ${x} in it is what Vars has for x, ${enum} what it may be
//	short:"x"         a letter beside the name
//	placeholder:"N"   what stands for its value in help
//	default:"x"       the value without one; of a command, withargs: the one that is meant if none is named
//	env:"X"           the environment variable that gives a value, before defaults
//	enum:"a,b"        what it may be
//	required:""       a flag that must be given
//	optional:""       an argument that need not be given
//	sep:"none"        of a flag that is a list: a value is one element, not several between commas
//	xor:"group"       one of these flags at most
//	negatable:""      --no-NAME switches it off
//	passthrough:""    an argument that takes the rest of the line as it is
//	group:"title"     of an embedded struct: the title of its flags in help
//	hidden:""         help does not show it
//	instead:""        a switch that is asked for instead of the rest, so nothing else need be given
//
// The libraries that do this look methods up by names that they make, and so the linker must keep
// every exported method of every type that is reached: a quarter of the program. Here only fields
// are asked for, and what is called is called by an interface.
package arguments

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Command is one, or the program itself.
type Command struct {
	Name, Help string
	Detail     string // more, below the help; paragraphs are separated by an empty line
	Hidden     bool
	Parent     *Command // nil: it is the program
	Flags      []*Flag  // its own
	Arguments  []*Value
	Commands   []*Command
	Default    *Command // the one that is meant if none is named, nil none

	target reflect.Value
}

// Value is what a flag or an argument sets.
type Value struct {
	Name, Help  string
	Default     string
	HasDefault  bool
	Env         string
	Enum        []string
	Required    bool
	Separate    bool // commas separate elements of a list
	Passthrough bool

	flag   bool
	set    bool
	target reflect.Value
}

// Flag is one.
type Flag struct {
	Value
	Short       rune // 0 none
	Placeholder string
	Group, Xor  string
	Negatable   bool
	Hidden      bool
	Instead     bool
}

// Vars are the values of ${names} in texts of help.
type Vars map[string]string

// Detailed is a command with more to say than its help.
type Detailed interface{ Detail() string }

// New is the model of a pointer to a struct. Tags that contradict each other are a fault of the
// program, so it panics.
func New(name string, target any, vars Vars) *Command {
	c := &Command{Name: name, target: reflect.ValueOf(target).Elem()}
	c.fields(c.target, "", vars)
	return c
}

// Target is a pointer to the command's struct.
func (c *Command) Target() any { return c.target.Addr().Interface() }

func (c *Command) fields(v reflect.Value, group string, vars Vars) {
	for i := range v.NumField() {
		field, f := v.Type().Field(i), v.Field(i)
		tag := field.Tag
		_, command := tag.Lookup("cmd")
		switch {
		case field.Anonymous:
			g := group
			if title := tag.Get("group"); title != "" {
				g = title
			}
			c.fields(f, g, vars)
		case !field.IsExported():
		case command:
			c.command(field, f, vars)
		default:
			c.value(field, f, group, vars)
		}
	}
}

func (c *Command) command(field reflect.StructField, f reflect.Value, vars Vars) {
	sub := &Command{Name: named(field), Parent: c, target: f}
	sub.Help = filled(field.Tag.Get("help"), vars)
	_, sub.Hidden = field.Tag.Lookup("hidden")
	if d, ok := sub.Target().(Detailed); ok {
		sub.Detail = d.Detail()
	}
	if field.Tag.Get("default") == "withargs" {
		c.Default = sub
	}
	c.Commands = append(c.Commands, sub)
	sub.fields(f, "", vars)
}

func (c *Command) value(field reflect.StructField, f reflect.Value, group string, vars Vars) {
	tag := field.Tag
	has := func(name string) bool { _, ok := tag.Lookup(name); return ok }
	v := Value{Name: named(field), Env: tag.Get("env"), Separate: !has("arg") && tag.Get("sep") != "none", Passthrough: has("passthrough"), target: f}
	v.Default, v.HasDefault = tag.Lookup("default")
	if enum := tag.Get("enum"); enum != "" {
		v.Enum = strings.Split(enum, ",")
	}
	v.Help = filled(strings.ReplaceAll(tag.Get("help"), "${enum}", strings.Join(v.Enum, ",")), vars)
	if !readable(f.Type()) {
		panic(fmt.Sprintf("%s: no value of a %s can be read", v.Name, f.Type()))
	}
	if has("arg") {
		v.Required = !has("optional") && !v.HasDefault
		c.Arguments = append(c.Arguments, &v)
		return
	}
	v.flag, v.Required = true, has("required")
	x := &Flag{Value: v, Placeholder: tag.Get("placeholder"), Group: group, Xor: tag.Get("xor"), Negatable: has("negatable"), Hidden: has("hidden"), Instead: has("instead")}
	for _, r := range tag.Get("short") {
		x.Short = r
	}
	c.Flags = append(c.Flags, x)
}

// named is what a field is called on a command line: MinEffect is min-effect.
func named(field reflect.StructField) string {
	if name := field.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	before := ' '
	for i, r := range field.Name {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(before) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

// filled puts the values of names into a text.
func filled(text string, vars Vars) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		value, ok := vars[name]
		if !ok {
			panic("help: there is no ${" + name + "}")
		}
		b.WriteString(value)
		text = after
	}
}

// Path is how a command is called: "unstall lab run".
func (c *Command) Path() string {
	if c.Parent == nil {
		return c.Name
	}
	return c.Parent.Path() + " " + c.Name
}

// All are the flags of a command and of those it is below, outermost first.
func (c *Command) All() (all []*Flag) {
	if c.Parent != nil {
		all = c.Parent.All()
	}
	return append(all, c.Flags...)
}

// Every calls f for a command and all below it.
func (c *Command) Every(f func(*Command)) {
	f(c)
	for _, sub := range c.Commands {
		sub.Every(f)
	}
}

// Package template fills the templates of pages: the language of text/template, as far as pages use
// it, with what is put in escaped for where it stands, as html/template does. It calls no methods of
// what it shows: both of those look them up by name, for which the linker must keep every exported
// method of every type of the program.
package template

import (
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"text/template/parse"
)

// HTML is text that is markup already, CSS and JS what may stand in a style and a script.
type (
	HTML string
	CSS  string
	JS   string
)

// FuncMap are functions by their names in templates. They return one value.
type FuncMap map[string]any

// Set is templates that call each other.
type Set struct {
	funcs FuncMap
	trees map[string]*parse.Tree
	where map[*parse.ActionNode]place
}

// Must is a set that must be right: it comes with the program.
func Must(s *Set, err error) *Set {
	if err != nil {
		panic(err)
	}
	return s
}

// ParseFS reads the templates that files define.
func ParseFS(files fs.FS, pattern string, funcs FuncMap) (*Set, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	s := &Set{funcs: funcs, trees: make(map[string]*parse.Tree), where: make(map[*parse.ActionNode]place)}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		trees, err := parse.Parse(name, string(text), "", "", funcs, builtin)
		if err != nil {
			return nil, err
		}
		for name, tree := range trees {
			s.trees[name] = tree
		}
	}
	for name, tree := range s.trees {
		if err := s.place(name, tree); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Execute writes what a template makes of data.
func (s *Set) Execute(w io.Writer, name string, data any) (err error) {
	tree := s.trees[name]
	if tree == nil {
		return fmt.Errorf("there is no template %s", name)
	}
	x := &run{set: s, w: w}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failure:
			err = v.err
		default:
			panic(v)
		}
	}()
	x.template(tree, reflect.ValueOf(data))
	return nil
}

// run is one execution.
type run struct {
	set  *Set
	w    io.Writer
	vars []variable
}

type variable struct {
	name  string
	value reflect.Value
}

// failure ends an execution.
type failure struct{ err error }

func (x *run) fail(n parse.Node, format string, args ...any) {
	panic(failure{fmt.Errorf("template: %s: %s", n, fmt.Sprintf(format, args...))})
}

func (x *run) write(text string) {
	if _, err := io.WriteString(x.w, text); err != nil {
		panic(failure{err})
	}
}

func (x *run) template(tree *parse.Tree, dot reflect.Value) {
	before := x.vars
	x.vars = []variable{{"$", dot}}
	x.node(tree.Root, dot)
	x.vars = before
}

func (x *run) node(n parse.Node, dot reflect.Value) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, c := range n.Nodes {
				x.node(c, dot)
			}
		}
	case *parse.TextNode:
		x.write(string(n.Text))
	case *parse.ActionNode:
		v := x.pipe(n.Pipe, dot)
		if len(n.Pipe.Decl) == 0 {
			text, err := x.set.where[n].escape(v)
			if err != nil {
				x.fail(n, "%v", err)
			}
			x.write(text)
		}
	case *parse.IfNode:
		x.branch(&n.BranchNode, dot, func(reflect.Value) { x.node(n.List, dot) })
	case *parse.WithNode:
		x.branch(&n.BranchNode, dot, func(v reflect.Value) { x.node(n.List, v) })
	case *parse.RangeNode:
		x.branch(&n.BranchNode, dot, func(v reflect.Value) { x.each(n, v) })
	case *parse.TemplateNode:
		var data reflect.Value
		if n.Pipe != nil {
			data = x.pipe(n.Pipe, dot)
		}
		x.template(x.set.trees[n.Name], data)
	default:
		x.fail(n, "pages have no such thing")
	}
}

// branch does the one or the other, with the variables of its condition.
func (x *run) branch(n *parse.BranchNode, dot reflect.Value, then func(reflect.Value)) {
	before := len(x.vars)
	v := x.pipe(n.Pipe, dot)
	if truth(v) {
		then(v)
	} else {
		x.node(n.ElseList, dot)
	}
	x.vars = x.vars[:before]
}

func (x *run) each(n *parse.RangeNode, list reflect.Value) {
	list = indirect(list)
	if list.Kind() != reflect.Slice {
		x.fail(n, "%s is no list", list.Kind())
	}
	before := len(x.vars)
	for i := range list.Len() {
		x.vars = x.vars[:before]
		switch decl := n.Pipe.Decl; len(decl) {
		case 1:
			x.vars = append(x.vars, variable{decl[0].Ident[0], list.Index(i)})
		case 2:
			x.vars = append(x.vars, variable{decl[0].Ident[0], reflect.ValueOf(i)}, variable{decl[1].Ident[0], list.Index(i)})
		}
		x.node(n.List, list.Index(i))
	}
}

// pipe is the value of one; it declares its variables, except those of a range.
func (x *run) pipe(p *parse.PipeNode, dot reflect.Value) (v reflect.Value) {
	for i, c := range p.Cmds {
		var last []reflect.Value
		if i > 0 {
			last = []reflect.Value{v}
		}
		v = x.command(c, dot, last)
	}
	if len(p.Decl) == 1 {
		x.vars = append(x.vars, variable{p.Decl[0].Ident[0], v})
	}
	return v
}

func (x *run) command(c *parse.CommandNode, dot reflect.Value, last []reflect.Value) reflect.Value {
	name, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok {
		return x.value(c.Args[0], dot)
	}
	if v, ok := x.logic(name.Ident, c.Args[1:], dot); ok {
		return v
	}
	f, ok := x.set.funcs[name.Ident]
	if !ok {
		f = builtin[name.Ident]
	}
	var args []reflect.Value
	for _, a := range c.Args[1:] {
		args = append(args, x.value(a, dot))
	}
	return x.call(name, reflect.ValueOf(f), append(args, last...))
}

// logic is and, or: they look at no more than is needed.
func (x *run) logic(name string, args []parse.Node, dot reflect.Value) (v reflect.Value, ok bool) {
	if name != "and" && name != "or" {
		return v, false
	}
	for _, a := range args {
		if v = x.value(a, dot); truth(v) == (name == "or") {
			break
		}
	}
	return v, true
}

func (x *run) call(n parse.Node, f reflect.Value, args []reflect.Value) reflect.Value {
	t := f.Type()
	if len(args) != t.NumIn() && !(t.IsVariadic() && len(args) >= t.NumIn()-1) {
		x.fail(n, "%d values instead of %d", len(args), t.NumIn())
	}
	for i, a := range args {
		want := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			want = want.Elem()
		}
		switch {
		case !a.IsValid():
			args[i] = reflect.Zero(want)
		case a.Type().AssignableTo(want):
		case a.CanConvert(want) && (a.Kind() == reflect.String) == (want.Kind() == reflect.String):
			args[i] = a.Convert(want)
		default:
			x.fail(n, "value %d is a %s", i+1, a.Type())
		}
	}
	v := f.Call(args)[0]
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func (x *run) value(n parse.Node, dot reflect.Value) reflect.Value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return x.fields(n, dot, n.Ident)
	case *parse.VariableNode:
		for i := len(x.vars) - 1; i >= 0; i-- {
			if x.vars[i].name == n.Ident[0] {
				return x.fields(n, x.vars[i].value, n.Ident[1:])
			}
		}
	case *parse.ChainNode:
		return x.fields(n, x.value(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return x.pipe(n, dot)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		return reflect.ValueOf(int(n.Int64))
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	}
	x.fail(n, "pages have no such value")
	return reflect.Value{}
}

func (x *run) fields(n parse.Node, v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		v = indirect(v)
		if v.Kind() != reflect.Struct {
			x.fail(n, "there is no %s of %s", name, v.Kind())
		}
		if v = v.FieldByName(name); !v.IsValid() {
			x.fail(n, "there is no field %s", name)
		}
	}
	return v
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// truth is whether a value is something: not zero, and not empty.
func truth(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() > 0
	case reflect.Struct:
		return true
	case reflect.Interface:
		return truth(v.Elem())
	}
	return !v.IsZero()
}

// builtin are the functions that every template has.
var builtin = map[string]any{
	"and": true, "or": true, // logic
	"not":    func(v any) bool { return !truth(reflect.ValueOf(v)) },
	"len":    func(v any) int { return indirect(reflect.ValueOf(v)).Len() },
	"index":  func(list any, i int) any { return indirect(reflect.ValueOf(list)).Index(i).Interface() },
	"eq":     func(a, b any) bool { return a == b },
	"lt":     func(a, b int) bool { return a < b },
	"printf": fmt.Sprintf,
}

// HTMLEscapeString is a text in which nothing is markup.
func HTMLEscapeString(s string) string { return markup.Replace(s) }

var markup = strings.NewReplacer("\x00", "\ufffd", `"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;")

package schema

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
)

// module is what import paths of the checkout begin with.
const module = "github.com/unstall/unstall/"

// words are the comments of types in the checkout.
type words struct {
	root string
	read map[string]map[string]about // by package, by type
}

type about struct {
	text   string
	fields map[string]string
}

// commentsOf returns the comments of a type and its fields; none for a type of another module.
func (w *words) commentsOf(t reflect.Type) about {
	dir, ok := strings.CutPrefix(t.PkgPath(), module)
	if !ok {
		return about{}
	}
	if w.read == nil {
		w.read = make(map[string]map[string]about)
	}
	if w.read[dir] == nil {
		w.read[dir] = commentsIn(filepath.Join(w.root, dir))
	}
	return w.read[dir][t.Name()]
}

func commentsIn(dir string) map[string]about {
	out := make(map[string]about)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return out
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, s := range d.Specs {
				t, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				text := plainText(d.Doc)
				if t.Doc != nil {
					text = plainText(t.Doc)
				}
				a := about{text: text, fields: make(map[string]string)}
				if x, ok := t.Type.(*ast.StructType); ok {
					for _, f := range x.Fields.List {
						text := plainText(f.Comment)
						if text == "" {
							text = plainText(f.Doc)
						}
						for _, n := range f.Names {
							a.fields[n.Name] = text
						}
					}
				}
				out[t.Name.Name] = a
			}
			return true
		})
	}
	return out
}

// plainText returns a comment as one line, with links to Go's names without brackets.
func plainText(g *ast.CommentGroup) string {
	if g == nil {
		return ""
	}
	var p comment.Parser
	doc := p.Parse(g.Text())
	return strings.Join(strings.Fields(string((&comment.Printer{TextWidth: -1}).Text(doc))), " ")
}

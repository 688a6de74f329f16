package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the beginning of the import paths of the project.
const module = "github.com/unstall/unstall/"

// declared are the names of a package: "Type", "Func", "Type.Method", "Type.field". Types that embed others may have further members.
type declared struct {
	names  map[string]bool
	embeds map[string]bool
	files  []*ast.File
}

// docLink matches a link of a comment, such as [fmt.Stringer].
var docLink = regexp.MustCompile(`(?:^|[\s(–—;,])\[\*?((?:[A-Za-z_]\w*\.){0,2}[A-Za-z_]\w*)\](?:$|[\s.,;:!?)'’s])`)

// packageWord matches "package NAME" at the end of a bracket, where only a name can stand.
var packageWord = regexp.MustCompile(`\bpackage ([a-z][a-z0-9]*)\)`)

// TestCommentLinks checks that the names and packages exist that comments name, so that a rename reaches its comments.
func TestCommentLinks(t *testing.T) {
	set := token.NewFileSet()
	packages := make(map[string]*declared) // by folder and name
	walk(t, ".go", func(name, text string) {
		f, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		key := path.Dir(name) + " " + strings.TrimSuffix(f.Name.Name, "_test")
		p := packages[key]
		if p == nil {
			p = &declared{names: make(map[string]bool), embeds: make(map[string]bool)}
			packages[key] = p
		}
		p.files = append(p.files, f)
		p.addFile(f)
	})
	byFolder := make(map[string]*declared)
	for key, p := range packages {
		folder, _, _ := strings.Cut(key, " ")
		byFolder[folder] = p
	}
	known := make(map[string][]string) // import paths by the name of the package
	for _, p := range packages {
		for _, f := range p.files {
			for _, s := range f.Imports {
				from, _ := strconv.Unquote(s.Path.Value)
				if name := path.Base(from); !slices.Contains(known[name], from) {
					known[name] = append(known[name], from)
				}
			}
		}
	}
	for folder := range byFolder {
		known[path.Base(folder)] = append(known[path.Base(folder)], module+folder)
	}
	for _, p := range packages {
		for _, f := range p.files {
			for _, c := range f.Comments {
				for _, m := range packageWord.FindAllStringSubmatch(withoutQuotes(c.Text()), -1) {
					if known[m[1]] == nil {
						t.Errorf("%s: a comment names package %s, which does not exist", set.Position(c.Pos()), m[1])
					}
				}
			}
			for _, c := range docComments(f) {
				for _, m := range docLink.FindAllStringSubmatch(withoutQuotes(c.Text()), -1) {
					if !p.resolves(m[1], known, byFolder) {
						t.Errorf("%s: a comment links to [%s], which does not exist", set.Position(c.Pos()), m[1])
					}
				}
			}
		}
	}
}

func (p *declared) addFile(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				p.names[d.Name.Name] = true
			} else {
				p.names[typeName(d.Recv.List[0].Type)+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						p.names[n.Name] = true
					}
				case *ast.TypeSpec:
					p.names[s.Name.Name] = true
					p.addMembers(s.Name.Name, s.Type)
				}
			}
		}
	}
}

func (p *declared) addMembers(name string, of ast.Expr) {
	var fields *ast.FieldList
	switch of := of.(type) {
	case *ast.StructType:
		fields = of.Fields
	case *ast.InterfaceType:
		fields = of.Methods
	default:
		p.embeds[name] = true // it may be an alias
		return
	}
	for _, f := range fields.List {
		if len(f.Names) == 0 {
			p.embeds[name] = true
			p.names[name+"."+typeName(f.Type)] = true
		}
		for _, n := range f.Names {
			p.names[name+"."+n.Name] = true
		}
	}
}

// typeName returns the name of a type without its package, pointer and parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// resolves says whether a link leads to a name of the package, or of another one that some file imports. Of packages outside the module it
// checks only that they are imported.
func (p *declared) resolves(name string, known map[string][]string, byFolder map[string]*declared) bool {
	if p.has(name) || types.Universe.Lookup(name) != nil {
		return true
	}
	pkg, rest, qualified := strings.Cut(name, ".")
	for _, from := range known[pkg] {
		folder, ours := strings.CutPrefix(from, module)
		if other := byFolder[folder]; !qualified || !ours || other != nil && other.has(rest) {
			return true
		}
	}
	return false
}

// has says whether a name is declared; a member of a type that embeds others may be theirs.
func (p *declared) has(name string) bool {
	of, _, member := strings.Cut(name, ".")
	return p.names[name] || member && p.embeds[of]
}

// docComments returns the comments of a file that document something: the package, a declaration, a field or a method.
func docComments(f *ast.File) (all []*ast.CommentGroup) {
	add := func(c *ast.CommentGroup) {
		if c != nil {
			all = append(all, c)
		}
	}
	add(f.Doc)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Doc)
			return false
		case *ast.GenDecl:
			add(n.Doc)
		case *ast.TypeSpec:
			add(n.Doc)
		case *ast.ValueSpec:
			add(n.Doc)
			add(n.Comment)
		case *ast.Field:
			add(n.Doc)
			add(n.Comment)
		}
		return true
	})
	return all
}

var quotedText = regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`|(?m:^\t.*$)")

// withoutQuotes returns a comment without quoted text and blocks of code.
func withoutQuotes(text string) string { return quotedText.ReplaceAllString(text, "") }

package all_test

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// namesStates are files that name a state themselves, and are not moved to the policy yet: the list only gets shorter.
var namesStates = map[string]string{}

// TestStatesAreNamedInThePolicy holds that checks decide by a row of the policy, and that each row is some check's answer.
func TestStatesAreNamedInThePolicy(t *testing.T) {
	s := readSources(t)
	states := []string{"check.Supported", "check.RuledOut", "check.Inconclusive"}
	used := make(map[string]bool)
	for _, field := range fields {
		for _, f := range s.files[field] {
			file := s.set.Position(f.Pos()).Filename
			if filepath.Base(file) == "policy.go" {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					o := s.info.Uses[n]
					if _, ok := o.(*types.Const); ok && slices.Contains(states, name(o)) && namesStates[filepath.ToSlash(file)] == "" {
						t.Errorf("%s names a state: set a rule of the policy", s.set.Position(n.Pos()))
					}
					used[name(o)] = true
				case *ast.AssignStmt:
					for _, l := range n.Lhs {
						if x, ok := l.(*ast.SelectorExpr); ok && x.Sel.Name == "State" && isRule(s.info.Uses[x.Sel]) {
							t.Errorf("%s sets a state: set a rule of the policy", s.set.Position(n.Pos()))
						}
					}
				}
				return true
			})
		}
	}
	frame := s.packages[frame]
	seen := make(map[string]bool)
	for _, n := range frame.Scope().Names() {
		o := frame.Scope().Lookup(n)
		if v, ok := o.(*types.Var); ok && v.Type().String() == frame.Path()+".Rule" {
			if !used[name(o)] && n != "Anything" { // which is not a check's to say
				t.Errorf("%s is no check's answer", n)
			}
			seen[n] = true
		}
	}
	if len(seen) != len(check.Policy) {
		t.Errorf("the policy has %d rows, and there are %d rules", len(check.Policy), len(seen))
	}
	answers := make(map[string]bool)
	last := 0
	for _, r := range check.Policy {
		place := slices.Index(check.Questions, r.Question)
		if answers[r.Answer] || place < last || r.Says == "" || r.State == "" {
			t.Errorf("%+v: its answer is taken, it is not in the order of questions, or something is missing", r)
		}
		answers[r.Answer], last = true, place
	}
}

// isRule says whether a field is one of a rule of the policy.
func isRule(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.IsField() && v.Pkg() != nil && v.Pkg().Path() == frame
}

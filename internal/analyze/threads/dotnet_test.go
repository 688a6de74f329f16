package threads

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// describe writes a view as the golden files have it.
func describe(v threadstack.View, frames []string) string {
	at := func(i int) string {
		if i < 0 {
			return "none"
		}
		return threadstack.Short(frames[i])
	}
	g := Group{View: v, Frames: frames, Count: 1}
	return fmt.Sprintf("role %q, %s, request %v\nstate %s, waits in %s\nowner %s, library %v\nbrief %s\n",
		v.Role, v.Doing(), v.Request, v.State, at(v.Wait), v.Owner, v.Library, strings.Join(g.Summary(), " ← "))
}

// Each pair of files of an archive is a stack, innermost first, and what it says.
func TestDotnet(t *testing.T) {
	files, err := filepath.Glob("testdata/dotnet*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var out []txtar.File
		want := make(map[string]string)
		for _, f := range a.Files {
			if title, ok := strings.CutSuffix(f.Name, " says"); ok {
				want[title] = string(f.Data)
			}
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, " says") {
				continue
			}
			frames := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			got := describe(threadstack.Dotnet(threadstack.Stack{Frames: frames}, "Shop.Web"), frames)
			out = append(out, f, txtar.File{Name: f.Name + " says", Data: []byte(got)})
			if d := cmp.Diff(want[f.Name], got); d != "" && !*goldentest.Update {
				t.Errorf("%s: %s differs; if the new one is right: %s\n%s", name, f.Name, goldentest.Command(), d)
			}
		}
		if *goldentest.Update {
			a.Files = out
			if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// No stack makes it panic, and what it points at is there.
func FuzzDotnet(f *testing.F) {
	files, _ := filepath.Glob("testdata/dotnet*.txtar")
	for _, name := range files {
		if a, err := txtar.ParseFile(name); err == nil {
			for _, x := range a.Files {
				f.Add(string(x.Data), "Shop.Web")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, entry string) {
		frames := strings.Split(text, "\n")
		v := threadstack.Dotnet(threadstack.Stack{Frames: frames}, entry)
		for _, i := range []int{v.Wait, v.User, v.Began} {
			if i < -1 || i >= len(frames) {
				t.Fatalf("frame %d of %d", i, len(frames))
			}
		}
		if v.Wait >= 0 && !v.Waiting() {
			t.Fatalf("waits in %q, and %s", frames[v.Wait], v.State)
		}
		describe(v, frames)
	})
}

// A method whose name was not told owns nothing: who called it does, if that is known.
func TestUnknownOwner(t *testing.T) {
	for want, frames := range map[string][]string{
		"Shop!Cart.Get()": {"System.Text.RegularExpressions!System.Text.RegularExpressions.Regex.IsMatch()", "?!?", "Shop!Shop.Cart.Get()"},
		"Shop!Cart.Put()": {"System.Private.CoreLib!System.Reflection.Emit.TypeBuilder.CreateTypeNoLock()", evidence.UnknownFunction, evidence.UnknownFunction, "Shop!Shop.Cart.Put()"},
		"":                {"System.Text.RegularExpressions!System.Text.RegularExpressions.Regex.IsMatch()", "?!?"},
	} {
		if v := threadstack.Dotnet(threadstack.Stack{Frames: frames}, "Shop"); v.Owner != want {
			t.Errorf("%v: %q, want %q", frames, v.Owner, want)
		}
	}
}

// What a lambda computes is the work of its method where that called it, and not where it waits,
// nor where the framework calls it.
func TestLambdaOwner(t *testing.T) {
	lambda := "Shop!Shop.Words+<>c__DisplayClass4_0.<Solve>b__1(class System.String)"
	query := "System.Linq!System.Linq.Enumerable.Count()"
	for want, frames := range map[string][]string{
		"Shop!Words.Solve(string)":          {"System.Text.RegularExpressions!System.Text.RegularExpressions.Regex.IsMatch()", lambda, query, "Shop!Shop.Words.Solve(class System.String)"},
		"Shop!Words.Find()":                 {"Shop!Shop.Words+<>c.<Find>b__0_0()", query, "Shop!Shop.Words+<Find>d__3.MoveNext()"},
		"Shop!Words.Solve.lambda_1(string)": {lambda, "Microsoft.AspNetCore.Routing!Microsoft.AspNetCore.Builder.RouterMiddleware.Invoke()"},
		"Shop!Words.Keep.lambda_2()":        {"[Native Frames]", "System.Private.CoreLib!System.Threading.Thread.Sleep()", "Shop!Shop.Words+<>c.<Keep>b__2()", "Shop!Shop.Words.Keep()"},
	} {
		if v := threadstack.Dotnet(threadstack.Stack{Frames: frames}, "Shop"); v.Owner != want {
			t.Errorf("%v: %q, want %q", frames, v.Owner, want)
		}
	}
}

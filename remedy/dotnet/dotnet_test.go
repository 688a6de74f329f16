package dotnet

import (
	"archive/zip"
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/lab/build"
)

var long = flag.Bool("long", false, "all of the library's tests, and its package (10 minutes)")

// The library's own tests, in C#, on each runtime there is, with another seed each time; it is printed.
func TestCollections(t *testing.T) {
	part := "quick"
	if *long {
		part = "long"
	}
	t.Run("the SDK's runtime", func(t *testing.T) { run(t, tooltest.Find(t, "dotnet"), Tests, part) })
	t.Run(".NET 9", func(t *testing.T) { run(t, tooltest.Find(t, "dotnet9"), Tests, part) })
}

// The sample writes the same answer by way of arrays and without: it compares them itself.
func TestSample(t *testing.T) {
	run(t, tooltest.Find(t, "dotnet"), Sample)
}

// The package has the library for each target that the SDK builds without a package source, with its documentation.
func TestPackage(t *testing.T) {
	if !*long {
		t.Skip("only with -long: make test-dotnet")
	}
	sdk := tooltest.Find(t, "dotnet")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "no-packages")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), sdk, "pack", "src/Unstall.Collections.csproj", "-c", "Release", "--source", empty, "-o", dir, "-nodeReuse:false", "-p:UseSharedCompilation=false")
	cmd.Dir = dir
	cmd.Env = append(build.DotnetEnv("DOTNET_CLI_HOME="+dir, "NUGET_PACKAGES="+filepath.Join(dir, "packages")), build.OpenSSL(sdk)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("dotnet pack: %v: %s", err, said)
	}
	packages, err := filepath.Glob(filepath.Join(dir, "Unstall.Collections.*.nupkg"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("packages: %v, %v", packages, err)
	}
	files, err := zip.OpenReader(packages[0])
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, name := range []string{"README.md", "LICENSE", "Unstall.Collections.nuspec",
		"lib/netstandard2.1/Unstall.Collections.dll", "lib/netstandard2.1/Unstall.Collections.xml",
		"lib/netcoreapp3.1/Unstall.Collections.dll", "lib/netcoreapp3.1/Unstall.Collections.xml"} {
		if f, err := files.Open(name); err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			f.Close()
		}
	}
}

func run(t *testing.T, dotnet, project string, args ...string) {
	t.Helper()
	sdk := tooltest.Find(t, "dotnet")
	assembly, err := build.Dotnet(t.Context(), sdk, "remedy-dotnet-"+path.Dir(project), build.Project{Sources: Sources, File: project}, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), dotnet, append([]string{assembly}, args...)...)
	cmd.Env = build.DotnetEnv()
	said, err := cmd.CombinedOutput()
	t.Log(strings.TrimSpace(string(said)))
	if err != nil {
		t.Errorf("%s %s: %v", project, strings.Join(args, " "), err)
	}
}

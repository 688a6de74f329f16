package platform

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/collect/discover"
)

func TestLaunchedByDotnet(t *testing.T) {
	for line, want := range map[string]string{
		"dotnet":          "",
		"dotnet Shop.dll": "Shop",
		"/usr/bin/dotnet /srv/Shop.Api.dll --password=x":                            "Shop.Api",
		"dotnet exec --depsfile /srv/x.json --runtimeconfig /srv/y.json ./Shop.dll": "Shop",
		"dotnet -d --roll-forward Major Tool.exe":                                   "Tool",
		"dotnet run --project Shop.dll":                                             "",
		"dotnet build Shop.csproj":                                                  "",
		"dotnet --info":                                                             "",
	} {
		if got := launchedByDotnet(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// placed is a process as the file system shows it: a root, and what it left.
type placed struct {
	discover.Process
	root    string
	left    []string
	inner   int
	started uint64
}

func (p placed) Open(name string) (*os.File, error) { return os.Open(path.Join(p.root, name)) }
func (p placed) Left(string) []string               { return p.left }
func (p placed) Inner() int                         { return p.inner }
func (p placed) Started() uint64                    { return p.started }

// What a process that was killed left behind is not the next one's that has its id.
func TestDiagnosticSocket(t *testing.T) {
	left := []string{"/tmp/dotnet-diagnostic-x-1-socket", "/tmp/dotnet-diagnostic-4711-socket", "/tmp/dotnet-diagnostic-4712-69123-socket"}
	for _, c := range []struct {
		inner   int
		started uint64
		want    bool
	}{{4712, 69123, true}, {4712, 69124, false}, {4711, 69123, false}, {4711, 1, false}} {
		if got := diagnosticSocket(placed{left: left, inner: c.inner, started: c.started}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestVersionsByPlace(t *testing.T) {
	p := placed{root: t.TempDir()}
	const jdk = "/usr/lib/jvm/java-8"
	if err := os.MkdirAll(p.root+jdk+"/jre/lib/amd64/server", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.root+jdk+"/release", []byte("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"1.8.0_402\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := releaseVersion(p, jdk+"/jre/lib/amd64/server/libjvm.so"); got != "1.8.0_402" {
		t.Errorf("release: %q", got)
	}
	for library, want := range map[string]string{
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.4/libcoreclr.so": "8.0.4",
		"/srv/app/libcoreclr.so": "",
	} {
		if got := coreVersion(p, library); got != want {
			t.Errorf("%s: %q, want %q", library, got, want)
		}
	}
}

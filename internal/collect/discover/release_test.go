package discover

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

// TestRelease checks where the version of a program is found, and which source counts first.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	jar := func(name, manifest string) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		w, err := z.Create("META-INF/MANIFEST.MF")
		if err == nil {
			_, err = w.Write([]byte(manifest))
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	put("cwd/lib/driver-9.9.9.jar", "")
	jar("cwd/shop-1.2.jar", "Manifest-Version: 1.0\r\nBundle-Version: 7\r\nImplementation-Version: 1.2.3\r\n")
	jar("cwd/orders-2.0.1-SNAPSHOT.jar", "Manifest-Version: 1.0\r\n")
	put("root/app/Desk.deps.json", `{"libraries":{"Other/9.0.0":{"type":"package"},"Desk/4.5.6":{"type":"project"}}}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "exe")); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		Target
		built                  func(string, Target) string
		command, environ, want string
	}{
		"telemetry's resource first":   {Target{Runtime: "jvm", In: container.Container{Image: "shop:7"}}, ReleaseOfJar, "java\x00-jar\x00shop-1.2.jar", "DD_VERSION=3\x00OTEL_RESOURCE_ATTRIBUTES=service.name=shop,service.version=2.4\x00", "2.4"},
		"a variable":                   {Target{Runtime: "go"}, ReleaseOfBuild, "shop", "PASSWORD=x\x00DD_VERSION=3.1", "3.1"},
		"a label":                      {Target{In: container.Container{Image: "shop:latest", Labels: map[string]string{"app.kubernetes.io/version": "5.1"}}}, nil, "shop", "", "5.1"},
		"an image's tag":               {Target{In: container.Container{Image: "registry:5000/team/shop:1.4.2@sha256:0123"}}, nil, "shop", "", "1.4.2"},
		"an image without":             {Target{In: container.Container{Image: "registry:5000/team/shop"}}, nil, "shop", "", ""},
		"latest is none":               {Target{In: container.Container{Image: "shop:latest"}}, nil, "shop", "", ""},
		"a manifest":                   {Target{}, ReleaseOfJar, "java\x00-Xmx1g\x00-jar\x00shop-1.2.jar\x00--port=1", "", "1.2.3"},
		"a jar's name":                 {Target{}, ReleaseOfJar, "java\x00-jar\x00orders-2.0.1-SNAPSHOT.jar", "", "2.0.1-SNAPSHOT"},
		"no version of a library":      {Target{}, ReleaseOfJar, "java\x00-cp\x00lib/driver-9.9.9.jar\x00shop.Main", "", ""},
		"an assembly":                  {Target{}, ReleaseOfAssembly, "dotnet\x00/app/Desk.dll", "", "4.5.6"},
		"a program that is its server": {Target{Runtime: "redis", Version: "7.2.4"}, func(_ string, t Target) string { return t.Version }, "redis-server", "", "7.2.4"},
		"a revision by its beginning":  {Target{}, nil, "shop", "APP_VERSION=0123456789abcdef0123456789abcdef01234567", "0123456789ab"},
		"nothing":                      {Target{}, nil, "python", "", ""},
	} {
		put("cmdline", x.command)
		put("environ", x.environ)
		if got := findRelease(dir, x.Target, x.built); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

package dotnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/lab/dotnetapp"
)

// TestElsewhere records real services in unusual places: with a TMPDIR of their own, in namespaces of their own, of another user.
func TestElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts ten services")
	}
	const ownTmp = `mount -t tmpfs tmpfs "$TMPDIR" && exec "$@"` // other processes do not see the mount
	for name, c := range map[string]struct {
		by  []string
		env string
	}{
		"TMPDIR":                      {env: "TMPDIR"},
		"PID namespace, our /proc":    {by: []string{"unshare", "--pid", "--mount", "--fork", "--kill-child"}},
		"container, /proc of its own": {by: []string{"unshare", "--pid", "--mount-proc", "--fork", "--kill-child", "sh", "-c", ownTmp, "sh"}, env: "TMPDIR"},
		"container, our /proc":        {by: []string{"unshare", "--pid", "--mount", "--fork", "--kill-child", "sh", "-c", ownTmp, "sh"}, env: "TMPDIR"},
		"another user":                {by: []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_override,+dac_read_search", "--ambient-caps=+dac_override,+dac_read_search"}},
	} {
		for _, release := range []string{"3.1", "9"} {
			t.Run(name+", .NET "+release, func(t *testing.T) {
				var env []string
				if c.env != "" {
					env = []string{c.env + "=" + t.TempDir()}
				}
				able(t, c.by, env)
				a := started(t, release, c.by, env...)
				on, err := discover.Resolve(t.Context(), fmt.Sprint(a.PID), platform.Recognisers())
				if err != nil {
					t.Fatal(err)
				}
				if on.Runtime != "dotnet" {
					t.Fatalf("pid %d is taken for %+v", a.PID, on)
				}
				access := probetest.One(t, findAccess, on)
				if len(access.Lacks) > 0 {
					t.Fatalf("lacks %+v", access.Lacks)
				}
				to := probetest.Record(t, access, probe.Plan{For: 2 * time.Second})
				if len(to.Warnings) > 0 {
					t.Errorf("warned %q", to.Warnings)
				}
				for _, want := range []string{"threads", "events"} {
					if all := series(t, to.Kept, want); len(all) == 0 || !strings.HasPrefix(all[0].String(), "Nettrace") {
						t.Errorf("no %s of %s", want, access.Where)
					}
				}
			})
		}
	}
}

// able skips the test if this user or this host cannot start a program that way.
func able(t *testing.T, by, env []string) {
	t.Helper()
	if len(by) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, by[0], append(by[1:len(by):len(by)], "true")...)
	c.Env = append(os.Environ(), env...)
	if text, err := c.CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s (as root it can be done)", by[0], err, strings.TrimSpace(string(text)))
	}
}

func started(t *testing.T, release string, by []string, env ...string) *dotnetapp.App {
	t.Helper()
	if release == "9" {
		return dotnetapp.Start9By(t, by, env...)
	}
	return dotnetapp.StartBy(t, by, env...)
}

// TestSwitchedOff checks that the error names the setting that switched a runtime's diagnostics off. Each runtime only knows some
// settings: those named DOTNET_ exist from .NET 6 on, the one for the socket alone from .NET 8 on.
func TestSwitchedOff(t *testing.T) {
	for _, c := range []struct {
		release, setting string
		off              bool
	}{
		{"3.1", "COMPlus_EnableDiagnostics=0", true},
		{"3.1", "DOTNET_EnableDiagnostics=0", false},
		{"9", "DOTNET_EnableDiagnostics=0", true},
		{"9", "DOTNET_EnableDiagnostics_IPC=0", true},
		{"9", "COMPlus_EnableDiagnostics=0", true},
	} {
		t.Run(".NET "+c.release+" "+c.setting, func(t *testing.T) {
			a := started(t, c.release, nil, c.setting)
			_, err := ipc.Find(a.PID)
			if !c.off {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ipc.ErrDisabled) {
				t.Fatal(err)
			}
			on, err := discover.Resolve(t.Context(), fmt.Sprint(a.PID), platform.Recognisers())
			if err != nil || on.Runtime != "dotnet" {
				t.Fatalf("%+v, %v", on, err)
			}
			all := findAccess(t.Context(), on)
			if len(all) != 1 || len(all[0].Lacks) != 1 || !strings.Contains(all[0].Lacks[0].Why, c.setting+" in its environment") || all[0].Lacks[0].Do != "restart it without this setting" {
				t.Errorf("found %+v", all)
			}
		})
	}
}

// TestAheadOfTime records a program that has the section of ahead-of-time compiled ones and no socket, because none can be built
// here.
func TestAheadOfTime(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	const any, managed = ".note.gnu.build-id\x00", "__managedcode\x00\x00\x00\x00\x00\x00"
	if !bytes.Contains(program, []byte(any)) {
		t.Skipf("%s has no section that could be named anew", sleep)
	}
	native := filepath.Join(t.TempDir(), "native")
	if err := os.WriteFile(native, bytes.ReplaceAll(program, []byte(any), []byte(managed)), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(native, "60")
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	var on discover.Target
	for on.Runtime == "" { // until it runs the started program
		if on, err = discover.Resolve(t.Context(), fmt.Sprint(c.Process.Pid), platform.Recognisers()); err != nil {
			t.Fatal(err)
		}
	}
	all := findAccess(t.Context(), on)
	if on.Runtime != "dotnet" || len(all) != 1 || len(all[0].Lacks) != 1 || !strings.Contains(all[0].Lacks[0].Why, "NativeAOT") || !strings.Contains(all[0].Lacks[0].Do, "EventSourceSupport") {
		t.Errorf("of %+v found %+v", on, all)
	}
}

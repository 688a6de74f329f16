package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNoGo says that there is no Go toolchain.
var ErrNoGo = errors.New("the services of this lab are built with Go, and there is no go command on PATH: install Go 1.21 or later (https://go.dev/dl) and put it on PATH")

// GoVersion returns the version of the toolchain on PATH: "go1.26.0".
func GoVersion(ctx context.Context) (string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", ErrNoGo
	}
	version, err := exec.CommandContext(ctx, tool, "env", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("%s env GOVERSION: %w", tool, err)
	}
	return strings.TrimSpace(string(version)), nil
}

// Go builds programs, main packages of a module, and returns where each binary is.
func Go(ctx context.Context, name string, files Sources, programs []string, say func(string)) (map[string]string, error) {
	toolchain, err := GoVersion(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := files.cacheFolder(name, toolchain)
	if err != nil {
		return nil, err
	}
	bins := make(map[string]string)
	for _, program := range programs {
		bin := filepath.Join(dir, path.Base(program)+exeSuffix())
		bins[program] = bin
		if _, err := os.Stat(bin); err == nil {
			continue
		}
		say(fmt.Sprintf("building %s with %s", path.Base(program), toolchain))
		if err := goBuild(ctx, files, program, bin); err != nil {
			return nil, err
		}
	}
	return bins, nil
}

// goBuild builds in a folder of its own and moves the binary into place at once:
// two labs may be started at the same time.
func goBuild(ctx context.Context, files Sources, program, bin string) error {
	work, err := os.MkdirTemp("", "unstall-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := files.layOut(work); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", bin, os.Getpid())
	defer os.Remove(fresh)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", fresh, "./"+program)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=on", "GOFLAGS=", "GOWORK=off")
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build %s: %w: %s", program, err, bytes.TrimSpace(said))
	}
	return os.Rename(fresh, bin)
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

package build

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/unstall/unstall/dev/tools"
)

// runScript runs one of the tools' scripts, which finds a program or fetches it, and returns the
// path it prints. Without fetch it fetches nothing.
func runScript(ctx context.Context, name string, fetch bool, say func(string), args ...string) (string, error) {
	dir, err := scriptsDir()
	if err != nil {
		return "", err
	}
	args = append([]string{filepath.Join(dir, name)}, args...)
	if !fetch {
		args = append(args, "find")
	}
	cmd := exec.CommandContext(ctx, "bash", args...)
	told := &lines{say: say}
	cmd.Stderr = told
	found, err := cmd.Output()
	if err != nil {
		if told.last != "" {
			return "", fmt.Errorf("%s", strings.TrimPrefix(told.last, "dev/tools/"+name+": "))
		}
		return "", fmt.Errorf("dev/tools/%s: %w", name, err)
	}
	return strings.TrimSpace(string(found)), nil
}

// scriptsDir returns the folder of the tools' scripts: the repository's if the working directory
// is in one, else a folder that it writes them to.
func scriptsDir() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		module, e := os.ReadFile(filepath.Join(dir, "go.mod"))
		if e == nil && isDir(filepath.Join(dir, "dev", "tools")) && bytes.HasPrefix(module, []byte("module github.com/unstall/unstall\n")) {
			return filepath.Join(dir, "dev", "tools"), nil
		}
	}
	dir = filepath.Join(toolCacheDir(), "dev", "tools")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return dir, fs.WalkDir(tools.Scripts, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tools.Scripts, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), content, 0o755)
	})
}

// lines hands on what a program says, line by line.
type lines struct {
	say        func(string)
	rest, last string
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest += string(p)
	for {
		line, rest, ok := strings.Cut(l.rest, "\n")
		if !ok {
			return len(p), nil
		}
		l.rest, l.last = rest, line
		l.say(line)
	}
}

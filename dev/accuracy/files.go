package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/process"
)

// ways collect, by runtime, what users have of a service without a recording. A way
// writes files into a folder while the load runs, and returns after about the given time.
var ways = map[string]func(ctx context.Context, st *stage, p *process.Program, address, dir string, lasts time.Duration) error{
	"redis": redisFiles,
}

// filesLast is how long collecting takes: counters are read twice.
const filesLast = 10 * time.Second

// takesFiles says whether files are also collected from a service.
func (st *stage) takesFiles() bool { return st.files && ways[st.Known.Runtime] != nil }

// takeFiles keeps these files in a folder beside the service's capture. It runs
// before the recording, so that they show nothing of it.
func (st *stage) takeFiles(ctx context.Context, k *Kept) error {
	k.Files = fileStem(k.Service, k.Run) + ".files"
	dir := filepath.Join(st.keep, k.Files)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	return ways[st.Known.Runtime](ctx, st, st.target, st.addresses[""], dir, filesLast)
}

// listFiles returns the paths of a folder's files, sorted by name.
func listFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names, err
}

// redisFiles runs the redis-cli commands that users run when a server is slow, and copies its log.
func redisFiles(ctx context.Context, st *stage, p *process.Program, address, dir string, lasts time.Duration) error {
	cli, env, err := build.RedisTool(st.built[st.Known.program.buildKey()].bin, "redis-cli")
	if err != nil {
		return fmt.Errorf("%w: %w", errSkip, err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ask := func(file string, words ...string) error {
		cmd := exec.CommandContext(ctx, cli, append([]string{"-h", host, "-p", port}, words...)...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("redis-cli %s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(out))
		}
		return os.WriteFile(filepath.Join(dir, file), out, 0o644)
	}
	if err := ask("info-1.txt", "INFO", "all"); err != nil {
		return err
	}
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, of := range []struct{ file, words string }{
		{"info-2.txt", "INFO all"},
		{"slowlog.txt", "SLOWLOG GET 128"},
		{"latency.txt", "LATENCY LATEST"},
		{"clients.txt", "CLIENT LIST"},
		{"config.txt", "CONFIG GET *"},
		{"memory.txt", "MEMORY STATS"},
	} {
		if err := ask(of.file, strings.Fields(of.words)...); err != nil {
			return err
		}
	}
	events, err := os.ReadFile(filepath.Join(dir, "latency.txt"))
	if err != nil {
		return err
	}
	for _, line := range strings.Fields(string(events)) { // raw data: the event's name, and three numbers
		if line[0] >= 'a' && line[0] <= 'z' {
			if err := ask("latency-"+line+".txt", "LATENCY", "HISTORY", line); err != nil {
				return err
			}
		}
	}
	return copyFile(filepath.Join(st.dir, "said-.log"), filepath.Join(dir, "redis.log"))
}

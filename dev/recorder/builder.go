package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// builder builds each program once with each toolchain.
type builder struct {
	dir  string
	done map[string]string
}

func (b *builder) buildProgram(ctx context.Context, program, toolchain string) (string, error) {
	key := program + "@" + toolchain
	if bin := b.done[key]; bin != "" {
		return bin, nil
	}
	bin := filepath.Join(b.dir, cmp.Or(toolchain, "go"), filepath.Base(program)) // the recording has the name of the binary
	args := []string{"build", "-o", bin}
	if toolchain != "" {
		args = append(args, "-modfile=lab/go1.21.mod")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./lab/"+program)...)
	cmd.Env = os.Environ()
	if toolchain != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+toolchain)
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./lab/%s: %w: %s", program, err, said)
	}
	b.done[key] = bin
	return bin, nil
}

// buildAll builds what a recording needs.
func (b *builder) buildAll(ctx context.Context, r recording) error {
	if _, err := b.buildProgram(ctx, r.program, r.toolchain); err != nil {
		return err
	}
	for _, program := range []string{"dependency", "burn"} {
		if _, err := b.buildProgram(ctx, program, ""); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type completionCommand struct {
	Shell string `arg:"" default:"" enum:"bash,zsh,fish," help:"The shell: bash, zsh or fish (default: that of SHELL)."`
	Code  bool   `short:"c" help:"Write the script for the shell, instead of saying where to put it."`
}

// startFiles are the files that shells read when they start.
var startFiles = map[string]string{"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}

func (c *completionCommand) Run(s *session) error {
	if c.Shell == "" {
		c.Shell = filepath.Base(os.Getenv("SHELL"))
	}
	code, ok := shellCode[c.Shell]
	if !ok {
		return errors.New("give the shell: unstall completion bash, zsh or fish")
	}
	if !c.Code {
		line := "source <(unstall completion -c " + c.Shell + ")"
		if c.Shell == "fish" {
			line = "unstall completion -c fish | source"
		}
		fmt.Fprintf(s.out, "For this shell, run:\n\n    %s\n\nFor all later ones, put that line into %s.\n", line, startFiles[c.Shell])
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprint(s.out, strings.NewReplacer("PROGRAM", program, "NAME", "unstall").Replace(code))
	return nil
}

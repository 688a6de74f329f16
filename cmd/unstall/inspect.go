package main

import (
	"fmt"
	"io"

	"github.com/unstall/unstall/internal/analyze/incident"
)

type inspectCommand struct {
	Files []string `arg:"" name:"file" help:"Files, directories of files, or - for standard input."`
	output
}

func (c *inspectCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	if err != nil {
		return err
	}
	if form.Inspect == nil {
		return fmt.Errorf("--format %s: inspect writes text or json", form.Name)
	}
	bundle := s.readFiles(c.Files)
	if bundle == nil {
		return nil
	}
	held := incident.Normalize(bundle)
	s.writeOutput(c.Output, c.Files, func(w io.Writer) error { return form.Inspect(w, held) })
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/collect/remote"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present"
)

type debugCommand struct {
	Target string `arg:"" name:"target" help:"pod/NAME, pod/NAMESPACE/NAME/CONTAINER, docker://NAME or podman://NAME."`
	Image  string `env:"UNSTALL_IMAGE" placeholder:"NAME" help:"The image with unstall as its entry point."`
	Start  bool   `name:"run" help:"Start the container now, bring the capture back and diagnose it here (default: print the command)."`
	recording
	output
}

// Run says how to start a container beside another one, or starts it.
func (c *debugCommand) Run(s *session) error {
	form, err := c.form(false)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return err
	}
	if c.Start && c.Image == "" {
		return errors.New("--run: give the image with --image or UNSTALL_IMAGE: one whose entry point is unstall (docs/containers.md)")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	aside, err := remote.Beside(ctx, c.Target, c.Image, c.Kernel)
	if err != nil {
		s.fail(unreadable, err)
		return nil
	}
	if !c.Start {
		return s.print(func(w io.Writer) error { return c.print(w, aside) })
	}
	return c.begin(ctx, s, aside, form)
}

// print writes what to paste, and why.
func (c *debugCommand) print(w io.Writer, a remote.Sidecar) error {
	var b strings.Builder
	fmt.Fprintf(&b, "To record %s from a sidecar container, with only these rights:\n\n", a.Of)
	width := 0
	for _, r := range a.Rights {
		width = max(width, min(len(r.Name), 34))
	}
	for _, r := range a.Rights {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, r.Name, r.Why)
	}
	b.WriteString("\n")
	if a.Profile != nil {
		fmt.Fprintf(&b, "cat >%s <<'END'\n%sEND\n", remote.ProfileFile, a.Profile)
	}
	words := append(a.Command, "diagnose", "1", "--for", c.For.String())
	for _, f := range []struct {
		on   bool
		flag string
	}{{c.Passive, "--passive"}, {c.JFR, "--jfr"}, {c.NoJFR, "--no-jfr"}, {c.Kernel, "--kernel"}, {c.Without, "--no-kernel"}, {c.Heap, "--heap"}} {
		if f.on {
			words = append(words, f.flag)
		}
	}
	for i, word := range words {
		words[i] = quoted(word)
	}
	fmt.Fprintf(&b, "%s\n\n", strings.Join(words, " "))
	if strings.Contains(b.String(), remote.Placeholder) {
		fmt.Fprintf(&b, "%s stands for an image whose entry point is unstall: give yours with --image.\n", remote.Placeholder)
	}
	b.WriteString("That prints the report. With --run unstall does this itself and brings the capture here.\n")
	if a.Note != "" {
		b.WriteString(a.Note + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// begin runs the container and diagnoses what it recorded.
func (c *debugCommand) begin(ctx context.Context, s *session, a remote.Sidecar, form present.Form) error {
	command := a.Command
	if a.Profile != nil {
		f, err := os.CreateTemp("", "unstall-*.json")
		if err != nil {
			return err
		}
		defer os.Remove(f.Name())
		if _, err := f.Write(a.Profile); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		command = nil
		for _, word := range a.Command {
			command = append(command, strings.Replace(word, "--custom="+remote.ProfileFile, "--custom="+f.Name(), 1))
		}
	}
	s.note("starting a sidecar container for %s:\n  %s", a.Of, strings.Join(command, " "))
	h, err := a.Start(command)
	if err != nil {
		s.fail(unreadable, err)
		return nil
	}
	e := errand{Version: version(), Beside: true, Recording: c.recording}
	e.Recording.Capture = ""
	path := s.fetch(ctx, h, e, s.err, c.recording, nil)
	if path == "" {
		return nil
	}
	defer s.note("saved %s; to see this again:\n  unstall %s", path, path)
	bundle := s.read([]string{path})
	if bundle == nil {
		return nil
	}
	d, err := diagnose.Run(context.Background(), bundle, diagnose.Options{ExpectedRate: c.Expect, Version: version()})
	if err != nil {
		s.fail(unreadable, err)
		return nil
	}
	form = form.Repeat("unstall " + quoted(path))
	if s.write(c.Output, []string{path}, func(w io.Writer) error { return form.Report(w, d) }) {
		s.wrote(c.Output)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/collect/remote"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present"
)

type debugCommand struct {
	Target    string `arg:"" name:"target" help:"A pod: NAME, pod/NAME, pod/NAME/CONTAINER or pod/NAMESPACE/NAME/CONTAINER; or docker://NAME, podman://NAME."`
	Namespace string `short:"n" placeholder:"NAME" help:"The namespace of the pod, as kubectl takes it (default: that of kubectl's context)."`
	Container string `short:"c" placeholder:"NAME" help:"The container of the pod, if it has several."`
	Image     string `env:"UNSTALL_IMAGE" placeholder:"NAME" help:"The image with unstall as its entry point."`
	Start     bool   `name:"run" help:"Start the container now, bring the capture back and diagnose it here (default: print the command)."`
	recording
	output
}

// Run says how to start a container beside another one, or starts it.
func (c *debugCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	if err == nil {
		err = c.checkFlags()
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
	aside, err := remote.Beside(ctx, remote.Of{Target: c.Target, Namespace: c.Namespace, Container: c.Container}, c.Image, c.Kernel)
	switch {
	case errors.Is(err, remote.ErrNoContainer):
		return err
	case err != nil:
		s.reportError(unreadable, err)
		return nil
	case aside.Unasked != nil && c.Start:
		s.reportError(unreadable, aside.Unasked)
		return nil
	case aside.Unasked != nil:
		s.printNote("warning: %v; this is the command for a pod of an unknown user", aside.Unasked)
	}
	if !c.Start {
		return s.printOutput(func(w io.Writer) error { return c.printCommand(w, aside) })
	}
	return c.runSidecar(ctx, s, aside, form)
}

// printCommand writes the commands to paste, and why each right is needed.
func (c *debugCommand) printCommand(w io.Writer, a remote.Sidecar) error {
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
	words := append(append(a.Command, "diagnose", "1"), c.typedFlags()...)
	for i, word := range words {
		words[i] = quoteArg(word)
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

// typedFlags returns the flags that make the same recording in another container, as they are typed. --capture is left out: the file would
// be lost with the container.
func (r *recording) typedFlags() []string {
	words := []string{"--for", r.For.String()}
	for _, f := range []struct {
		on   bool
		flag string
	}{{r.Passive, "--passive"}, {r.JFR, "--jfr"}, {r.NoJFR, "--no-jfr"}, {r.Kernel, "--kernel"}, {r.NoKernel, "--no-kernel"}, {r.Heap, "--heap"}} {
		if f.on {
			words = append(words, f.flag)
		}
	}
	if r.Expect != 0 {
		words = append(words, "--expect-rate", strconv.FormatFloat(r.Expect, 'g', -1, 64))
	}
	if r.OTLP != "" {
		words = append(words, "--otlp", r.OTLP)
	}
	return words
}

// runSidecar runs the container and diagnoses what it recorded.
func (c *debugCommand) runSidecar(ctx context.Context, s *session, a remote.Sidecar, form present.Form) error {
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
	s.printNote("starting a sidecar container for %s:\n  %s", a.Of, strings.Join(command, " "))
	h, err := a.Start(command)
	if err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	e := errand{Version: programVersion(), Beside: true, Recording: c.recording}
	e.Recording.Capture = ""
	path := s.fetchCapture(ctx, h, e, s.err, c.recording, nil)
	if path == "" {
		return nil
	}
	defer s.printNote("saved %s; to see this again:\n  unstall %s", path, path)
	bundle := s.readFiles([]string{path})
	if bundle == nil {
		return nil
	}
	d, err := diagnose.Run(context.Background(), bundle, diagnose.Options{ExpectedRate: c.Expect, Version: programVersion()})
	if err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	form = form.Repeat("unstall " + quoteArg(path))
	if s.writeOutput(c.Output, []string{path}, func(w io.Writer) error { return form.Report(w, d) }) {
		s.printWrote(c.Output)
	}
	return nil
}

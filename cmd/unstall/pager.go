package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/unstall/unstall/internal/present/text"
)

// page holds terminal output until its length is known to fit the screen or not.
type page struct {
	bytes.Buffer
	screen *os.File
	rows   int
}

// Terminal returns the terminal that will show the text; the page uses its width and colours.
func (p *page) Terminal() *os.File { return p.screen }

// newPage returns a page for output to a terminal whose size is known; nil if there is no such
// terminal or no pager is wanted.
func (s *session) newPage() *page {
	f, ok := s.out.(*os.File)
	if !ok || s.noPager || choosePager() == "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	if rows, ok := text.Rows(f); ok && rows > 0 {
		return &page{screen: f, rows: rows}
	}
	return nil
}

// choosePager returns the program that shows text longer than the screen, in git's order: UNSTALL_PAGER, else PAGER, else less. It
// returns "" for no pager, also if cat is chosen.
func choosePager() string {
	for _, name := range []string{"UNSTALL_PAGER", "PAGER"} {
		if v, ok := os.LookupEnv(name); ok {
			if v == "cat" {
				return ""
			}
			return v
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// showPage prints a page, through the pager if it is longer than the screen.
func (p *page) showPage() error {
	if bytes.Count(p.Bytes(), []byte("\n")) < p.rows {
		_, err := p.WriteTo(p.screen)
		return err
	}
	c := exec.Command("sh", "-c", choosePager()) // the pager may have arguments
	all := bytes.Clone(p.Bytes())
	c.Stdin, c.Stdout, c.Stderr = &p.Buffer, p.screen, os.Stderr
	c.Env = os.Environ()
	if _, ok := os.LookupEnv("LESS"); !ok {
		c.Env = append(c.Env, "LESS=FRX") // less ends by itself if the text fits, keeps colours, and leaves the text on the screen
	}
	signal.Ignore(os.Interrupt) // while the pager runs, interrupts are for it
	defer signal.Reset(os.Interrupt)
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return nil
	case errors.As(err, &exit) && exit.ExitCode() != notFound && exit.ExitCode() != notExecutable:
		return nil // the reader has seen enough
	}
	if _, err := p.screen.Write(all); err != nil {
		return err
	}
	return fmt.Errorf("cannot start the pager %q: set UNSTALL_PAGER or PAGER, or give --no-pager", choosePager())
}

// Exit codes of a shell for a program that does not exist or cannot be run.
const (
	notExecutable = 126
	notFound      = 127
)

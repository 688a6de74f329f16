package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// look is the time between two checks whether the listener runs. A JVM takes some milliseconds to start it.
const look = 5 * time.Millisecond

// ensureListener makes the JVM listen, if it does not yet.
func (v *VM) ensureListener(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	switch ok, err := v.isListening(ctx); {
	case err != nil:
		return err
	case ok:
		return nil
	}
	remove, err := v.requestAttach()
	if err != nil {
		return err
	}
	defer remove()
	if err := v.sendQuit(); err != nil {
		return err
	}
	timer := time.NewTicker(look)
	defer timer.Stop()
	for {
		if ok, err := v.isListening(ctx); ok || err != nil {
			return err
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return v.noListener(ctx)
		}
		if v.Ended() {
			return newProblem(v.pid, "it has ended", "run unstall without arguments to list what runs here", ErrGone)
		}
	}
}

func (v *VM) noListener(ctx context.Context) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case isStopped(v.pid):
		return v.silentError()
	}
	return newProblem(v.pid, fmt.Sprintf("no %s after %v: attaching may be disabled, or all its threads are stopped", v.Socket(), Patience),
		"try again; check whether it runs with "+disableFlag, ErrSilent)
}

// isListening says whether the JVM listens on the socket. It is an error if another process does, or if that is unknown.
func (v *VM) isListening(ctx context.Context) (bool, error) {
	switch fi, err := os.Lstat(v.Socket()); {
	case errors.Is(err, fs.ErrPermission):
		return false, deniedError(v.pid, v.Socket())
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, v.explainError(ctx, err)
	case fi.Mode()&fs.ModeSocket == 0 || !isOwnedBy(fi, v.uid):
		return false, nil
	}
	conn, err := v.dial(ctx)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return false, nil // a JVM with the same PID left it
	case err != nil:
		return false, v.explainError(ctx, err)
	}
	return true, conn.Close() // sends nothing: the JVM reads an empty request, and waits for the next
}

// requestAttach creates the file that tells a JVM that SIGQUIT means an attach, and returns a function that removes it. An existing
// file belongs to another program that attaches at this moment, and also works.
func (v *VM) requestAttach() (remove func(), err error) {
	name := fmt.Sprintf(".attach_pid%d", v.inner)
	var first error
	for _, dir := range []string{procPath(v.pid, "cwd"), v.root + "/tmp"} {
		remove, err := v.createAttachFile(dir, name)
		if err == nil {
			return remove, nil
		}
		if first == nil {
			first = err
		}
	}
	if errors.Is(first, fs.ErrPermission) {
		return nil, deniedError(v.pid, "its working directory and its /tmp")
	}
	return nil, newProblem(v.pid, "cannot create a file in its working directory or its /tmp: "+first.Error(), "make one of them writable", first)
}

func (v *VM) createAttachFile(dir, name string) (remove func(), err error) {
	root, err := os.OpenRoot(dir) // so that the file is removed from the same folder, even if the process ends
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		defer root.Close()
		if fi, e := root.Lstat(name); e == nil && fi.Mode().IsRegular() && isOwnedBy(fi, v.uid) {
			return func() {}, nil
		}
		return nil, err
	}
	remove = func() {
		_ = root.Remove(name)
		_ = root.Close()
	}
	if os.Geteuid() != v.uid {
		err = f.Chown(v.uid, v.gid) // before JDK 11 not even root's will do
	}
	if err = errors.Join(err, f.Close()); err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}

// sendQuit sends SIGQUIT to the process if the process handles that signal. Otherwise the signal would end it.
func (v *VM) sendQuit() error {
	p, err := os.FindProcess(v.pid) // a pidfd, which from here on always means this process
	if err != nil {
		return newProblem(v.pid, "it has ended", "run unstall without arguments to list what runs here", ErrGone)
	}
	defer func() { _ = p.Release() }()
	s, err := readStatus(v.pid)
	if err != nil || v.Ended() {
		return newProblem(v.pid, "it has ended", "run unstall without arguments to list what runs here", ErrGone)
	}
	switch {
	case isStopped(v.pid):
		return v.silentError()
	case !s.caught && v.reducesSignals():
		return newProblem(v.pid, "it runs with -Xrs and does not listen on "+v.Socket()+", and the signal that makes it listen would end it", "restart it without -Xrs", ErrDisabled)
	case !s.caught:
		return newProblem(v.pid, "it does not handle SIGQUIT yet, which would end it", "try again in a few seconds", ErrStarting)
	}
	if err := p.Signal(syscall.SIGQUIT); err != nil {
		return deniedError(v.pid, "the process")
	}
	return nil
}

package probe

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// SwitchedOn is something that is on in a process during a recording, or a setting that a try has changed. It is written down before it
// is switched on and forgotten when it is off. So the next start of the tool, with any command, can switch off what a killed recorder
// left on, or what a process did not answer about.
type SwitchedOn struct {
	Probe string `json:"probe"` // the probe that switched it on
	What  string `json:"what"`  // the probe's own name for it: "gc"
	File  string `json:"file"`  // path as the process knows it

	PID   int    `json:"pid"`   // of the process
	Start uint64 `json:"start"` // its start time, ticks after boot

	Was   string `json:"was,omitempty"` // of a setting: the old value, and the tried one
	Tried string `json:"tried,omitempty"`

	Recorder      int    `json:"recorder"`
	RecorderStart uint64 `json:"recorder_start"`

	Boot      string `json:"boot"` // of the host: PIDs and start times belong to one boot
	Namespace int    `json:"namespace"`

	note string // the file with the note
}

// leftDir is the directory's name, in $XDG_RUNTIME_DIR or where temporary files go.
const leftDir = "unstall-left"

// mostLeft bounds what is read of one note.
const mostLeft = 4 << 10

// leftDirs are the directories for notes of this user. A login session and a process without one may use different ones.
func leftDirs() []string {
	var all []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && isOwnDir(dir) { // sudo may leave another user's variable
		all = append(all, filepath.Join(dir, leftDir))
	}
	return append(all, filepath.Join(os.TempDir(), fmt.Sprintf("%s-%d", leftDir, os.Getuid())))
}

// Note writes l down. If it cannot, the error says why; recording continues without a note.
func Note(l SwitchedOn) (*SwitchedOn, error) {
	return writeNote(l, func(*os.File) error { return nil })
}

// Hold writes l down as [Note] does, and locks the note while the file is open, here or in a process that got the file. The lock shows
// that a process will still switch it off.
func Hold(l SwitchedOn) (held *SwitchedOn, f *os.File, err error) {
	held, err = writeNote(l, func(note *os.File) error {
		if err := lockFile(note); err != nil {
			return err
		}
		f, err = duplicateFile(note)
		return err
	})
	if err != nil && f != nil {
		_ = f.Close()
	}
	return held, f, err
}

// Take locks a note that no process holds; false: a process holds it, or it is gone.
func (l *SwitchedOn) Take() (*os.File, bool) {
	f, err := os.Open(l.note)
	if err != nil {
		return nil, false
	}
	if lockFile(f) != nil || !l.There() {
		_ = f.Close()
		return nil, false
	}
	return f, true
}

// There says whether the note still exists.
func (l *SwitchedOn) There() bool {
	_, err := os.Lstat(l.note)
	return err == nil
}

// Path returns the path of the note.
func (l *SwitchedOn) Path() string { return l.note }

// Held reads the note at a path.
func Held(path string) (*SwitchedOn, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l := &SwitchedOn{note: path}
	return l, json.Unmarshal(text, l)
}

// writeNote writes a note so that readers find it under its name only when it is complete. It calls ready with the file before that.
func writeNote(l SwitchedOn, ready func(*os.File) error) (*SwitchedOn, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	for _, dir := range leftDirs() {
		if e := os.Mkdir(dir, 0o700); e != nil && !errors.Is(e, os.ErrExist) {
			err = errors.Join(err, e)
			continue
		}
		root, e := openPrivate(dir)
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		name := hex.EncodeToString(random[:]) + ".json"
		f, e := root.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if e == nil {
			_, e = f.Write(text)
			e = errors.Join(e, ready(f), f.Close())
			if e == nil {
				e = root.Rename(name+".new", name)
			}
			if e != nil {
				_ = root.Remove(name + ".new")
			}
		}
		_ = root.Close()
		if e == nil {
			l.note = filepath.Join(dir, name)
			return &l, nil
		}
		err = errors.Join(err, e)
	}
	return nil, err
}

// Forget removes a note, because what it describes is off.
func (l *SwitchedOn) Forget() {
	if l != nil && l.note != "" {
		_ = os.Remove(l.note)
	}
}

// Notes returns the notes that were left in this boot and PID namespace.
func Notes(boot string, namespace int) (all []*SwitchedOn) {
	for _, dir := range leftDirs() {
		root, err := openPrivate(dir)
		if err != nil {
			continue
		}
		all = append(all, notesIn(root, dir, boot, namespace)...)
		_ = root.Close()
	}
	return all
}

func notesIn(root *os.Root, dir, boot string, namespace int) (all []*SwitchedOn) {
	d, err := root.Open(".")
	if err != nil {
		return nil
	}
	names, _ := d.Readdirnames(1000)
	_ = d.Close()
	for _, name := range names {
		fi, err := root.Lstat(name)
		if err != nil || !fi.Mode().IsRegular() || !strings.HasSuffix(name, ".json") {
			continue
		}
		f, err := root.Open(name)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, mostLeft))
		_ = f.Close()
		l := &SwitchedOn{}
		if err != nil || json.Unmarshal(text, l) != nil {
			continue
		}
		l.note = filepath.Join(dir, name)
		switch {
		case l.Boot != boot:
			l.Forget() // nothing it describes exists any more
		case l.Namespace == namespace:
			all = append(all, l)
		}
	}
	return all
}

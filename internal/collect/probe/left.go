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

// SwitchedOn is something that is on in a process because it is being recorded, or a setting that
// is changed because it is being tried. It is written down before it is switched on and
// forgotten when it is off, so that what a recorder leaves that was killed, or whose process
// did not answer any more, can be switched off by the next start of the tool, whatever that
// is for.
type SwitchedOn struct {
	Probe string `json:"probe"` // that switched it on
	What  string `json:"what"`  // for it to know what to do: "gc"
	File  string `json:"file"`  // as the process knows it

	PID   int    `json:"pid"`   // of the process
	Start uint64 `json:"start"` // when it was started, ticks after boot

	Was   string `json:"was,omitempty"` // of a setting: what it was, and what is tried
	Tried string `json:"tried,omitempty"`

	Recorder      int    `json:"recorder"`
	RecorderStart uint64 `json:"recorder_start"`

	Boot      string `json:"boot"` // of the host: ids and starts are of one boot
	Namespace int    `json:"namespace"`

	note string // the file it is written down in
}

// leftDir is the directory's name, in $XDG_RUNTIME_DIR or where temporary files go.
const leftDir = "unstall-left"

// mostLeft bounds what is read of one note.
const mostLeft = 4 << 10

// leftDirs are where notes of this user may be: a login session and one without may
// look into different places.
func leftDirs() []string {
	var all []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && isOwnDir(dir) { // sudo may leave another user's
		all = append(all, filepath.Join(dir, leftDir))
	}
	return append(all, filepath.Join(os.TempDir(), fmt.Sprintf("%s-%d", leftDir, os.Getuid())))
}

// Note writes l down. Where that cannot be done the error says why; recording goes
// on without.
func Note(l SwitchedOn) (*SwitchedOn, error) {
	return writeNote(l, func(*os.File) error { return nil })
}

// Hold writes l down as [Note] does, and locks the note for as long as the file is open, here
// or in a process it was given to: as long as somebody is there to switch off what it is
// about.
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

// Take locks a note that nobody holds any more; false: it is held, or gone.
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

// There says whether the note is there still: nobody has forgotten it.
func (l *SwitchedOn) There() bool {
	_, err := os.Lstat(l.note)
	return err == nil
}

// Path is where the note is.
func (l *SwitchedOn) Path() string { return l.note }

// Held reads the note that is at a path.
func Held(path string) (*SwitchedOn, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l := &SwitchedOn{note: path}
	return l, json.Unmarshal(text, l)
}

// writeNote writes a note whole: readers find it under its name only when it is complete. ready is
// called with the file before that.
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

// Forget takes a note away: what it is about is off.
func (l *SwitchedOn) Forget() {
	if l != nil && l.note != "" {
		_ = os.Remove(l.note)
	}
}

// Notes are those that were left, of this boot and PID namespace.
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
			l.Forget() // nothing of it is left
		case l.Namespace == namespace:
			all = append(all, l)
		}
	}
	return all
}

package redis

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// log is the server's own log, whose new lines are kept. The server opens it for each line it writes, so it is not among its open files.
type log struct {
	r     *recording
	about evidence.Subject
	path  string
	from  int64
}

// mostLog bounds what is kept of it.
const mostLog = 4 << 20

// findLog finds the log of a server of this host, nil if none can be read.
func (r *recording) findLog(ctx context.Context, t discover.Target, about evidence.Subject) *log {
	if t.PID == 0 {
		return nil
	}
	path := r.askLogfile(ctx)
	if path == "" {
		return nil // standard output is among its open files, if it is a file
	}
	through := fmt.Sprintf("/proc/%d/root%s", t.PID, path)
	if !filepath.IsAbs(path) {
		through = fmt.Sprintf("/proc/%d/cwd/%s", t.PID, path)
	}
	fi, err := os.Stat(through)
	switch {
	case os.IsPermission(err):
		r.sink.Lack(probe.Lack{What: "the server's log", Why: "this user may not read it", Do: fmt.Sprintf("sudo unstall %d", t.PID)})
		return nil
	case err != nil || !fi.Mode().IsRegular():
		return nil
	}
	return &log{r: r, about: about, path: through, from: fi.Size()}
}

// storeAppended stores what was appended since the recording began.
func (l *log) storeAppended() {
	f, err := os.Open(l.path)
	if err != nil {
		return
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() <= l.from {
		if err != nil || fi.Size() == l.from {
			return
		}
		l.from = 0 // it was rotated
	}
	out, err := l.r.sink.Create(capture.Meta{Name: "redis.log", Probe: name, Origin: "the server's log", About: l.about, Lines: true, Found: true, Continues: true})
	if err != nil {
		return
	}
	_, _ = io.Copy(out, io.NewSectionReader(f, l.from, mostLog)) // the recording reports if no more can be stored
	_ = out.Close()
}

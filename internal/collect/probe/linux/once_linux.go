package linux

import (
	"os"
	"strings"

	"github.com/unstall/unstall/internal/base/redact"
)

// once reads what does not change while a process runs.
func (r *recorder) once() {
	dir := r.process.dir
	for _, name := range []string{dir + "/cgroup", dir + "/limits", "/proc/sys/kernel/hostname"} {
		f := newFile(name, name)
		_ = r.read(f)
		r.archive.close(f)
	}
	if b, err := os.ReadFile(dir + "/cmdline"); err == nil && len(b) > 0 {
		r.text(dir+"/cmdline", bounded(redact.Command(split(b))))
	}
	// A section without lines says that none of the settings is there, no section
	// that the environment cannot be read.
	if b, err := os.ReadFile(dir + "/environ"); err == nil {
		r.text(dir+"/environ", bounded(redact.Env(split(b))))
	}
}

// split takes apart what the kernel keeps with a zero byte behind each. A line
// break within would look like a new line of the archive.
func split(b []byte) []string {
	s := strings.NewReplacer("\n", " ", "\r", " ").Replace(strings.TrimSuffix(string(b), "\x00"))
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// Bounds of what is stored of a command line.
const (
	mostArgs = 256
	longest  = 1024 // bytes of one
)

func bounded(list []string) []string {
	list = list[:min(len(list), mostArgs)]
	for i, s := range list {
		list[i] = strings.ToValidUTF8(s[:min(len(s), longest)], "")
	}
	return list
}

package linux

import (
	"os"
	"strings"

	"github.com/unstall/unstall/internal/base/redact"
)

// readOnce reads what does not change while a process runs.
func (r *recorder) readOnce() {
	dir := r.process.dir
	for _, name := range []string{dir + "/cgroup", dir + "/limits", "/proc/sys/kernel/hostname"} {
		f := newFile(name, name)
		_ = r.appendFile(f)
		r.archive.closeFile(f)
	}
	if b, err := os.ReadFile(dir + "/cmdline"); err == nil && len(b) > 0 {
		r.appendSection(dir+"/cmdline", truncateList(redact.Command(splitZeros(b))))
	}
	// A section without lines says that none of the settings is there, no section
	// that the environment cannot be read.
	if b, err := os.ReadFile(dir + "/environ"); err == nil {
		r.appendSection(dir+"/environ", truncateList(redact.Env(splitZeros(b))))
	}
}

// splitZeros splits text in which each part ends with a zero byte, as in files of the kernel. Line
// breaks become blanks, as they would look like a new line of the archive.
func splitZeros(b []byte) []string {
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

func truncateList(list []string) []string {
	list = list[:min(len(list), mostArgs)]
	for i, s := range list {
		list[i] = strings.ToValidUTF8(s[:min(len(s), longest)], "")
	}
	return list
}

package hotspot

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// jvmTmp is a directory that a JVM can always write to, because its listener is there.
const jvmTmp = "/tmp/"

// ownFile returns a new name for a file that the JVM will write. The name says which JVM it is of, and which recorder: PID namespace, PID and start
// time.
//
//	/tmp/.unstall-gc-4711-4026531836-815-107466-9f86d081.log
func ownFile(kind string, vm *attach.VM, extension string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	start, _ := attach.Started(os.Getpid())
	return fmt.Sprintf("%s%s%s-%d-%d-%d-%d-%s.%s", jvmTmp, probe.OwnFile, kind, vm.Inner(), probe.PIDNamespace(), os.Getpid(), start,
		hex.EncodeToString(random[:]), extension)
}

// isAbandoned says whether a file was made for a recorder of this PID namespace that has ended. For a recorder in another namespace
// that is unknown, and it returns false.
func isAbandoned(file string, vm *attach.VM) bool {
	rest, ok := strings.CutPrefix(filepath.Base(file), probe.OwnFile)
	f := strings.Split(rest, "-")
	if !ok || len(f) != 6 {
		return false
	}
	var n [4]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(f[i+1]); err != nil {
			return false
		}
	}
	if n[0] != vm.Inner() || n[1] != probe.PIDNamespace() {
		return false
	}
	start, err := attach.Started(n[2])
	return err != nil || start != uint64(n[3])
}

// openOwn opens a file only if the JVM wrote it. Other users may put files into the JVM's /tmp, and the recorder may be root.
func openOwn(vm *attach.VM, file string) (*os.File, error) {
	f, err := os.OpenFile(vm.Path(file), os.O_RDONLY|noFollow|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", file)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// removeOwn removes a file that the JVM wrote, and its rotated files.
func removeOwn(vm *attach.VM, file string) {
	for _, name := range []string{file, file + ".0"} {
		_ = os.Remove(vm.Path(name))
	}
}

// removeAbandoned removes the files that killed recorders left.
func removeAbandoned(vm *attach.VM) {
	files, _ := filepath.Glob(fmt.Sprintf("%s*-%d-*", vm.Path(jvmTmp+probe.OwnFile), vm.Inner()))
	for _, f := range files {
		if isAbandoned(f, vm) {
			_ = os.Remove(f)
		}
	}
}

package gostack

import (
	"strings"
	"testing"
)

func TestSystemCall(t *testing.T) {
	for _, c := range []struct{ want, stack string }{
		{"fsync in main.(*journal).append", "syscall.Syscall syscall.Fsync internal/poll.(*FD).Fsync.func1 internal/poll.ignoringEINTR internal/poll.(*FD).Fsync os.(*File).Sync main.(*journal).append main.handle net/http.(*conn).serve"},
		{"fdatasync in go.etcd.io/bbolt.fdatasync", "syscall.Syscall syscall.Fdatasync go.etcd.io/bbolt.fdatasync go.etcd.io/bbolt.(*Tx).write"},
		{"flock in shop.example/store.(*lock).take", "golang.org/x/sys/unix.Flock shop.example/store.(*lock).take main.main"},
		{"write in main.logged.func1", "syscall.write syscall.Write internal/poll.ignoringEINTRIO internal/poll.(*FD).Write os.(*File).Write fmt.Fprintf log.(*Logger).output main.logged.func1 net/http.(*conn).serve"},
		{"", "syscall.write syscall.Write internal/poll.(*FD).Write net.(*netFD).Write net.(*conn).Write net/http.checkConnErrorWriter.Write net/http.(*conn).serve"},
		{"call of C in main._Cfunc_sqlite3_step", "runtime.cgocall main._Cfunc_sqlite3_step main.(*db).query"},
		{"", "runtime.chanrecv1 main.work main.main"},
	} {
		if call, in := SystemCall(strings.Fields(c.stack)); call+in != c.want {
			t.Errorf("%s: %q, want %q", c.stack, call+in, c.want)
		}
	}
}

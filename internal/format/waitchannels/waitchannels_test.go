package waitchannels

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const heading = "  PID USER     COMMAND         S WCHAN\n"

var suite = formattest.Suite{Format: Format, Name: "ps.txt", Match: map[string]format.Confidence{
	heading + " 4711 root     mysqld          D jbd2_log_wait_commit\n": format.Sure,
	heading:                                format.No,
	"4711 D jbd2_log_wait_commit mysqld\n": format.No, // one row without a heading
	"4711 D jbd2_log_wait_commit mysqld\n4712 Ds jbd2_log_wait_commit mysqld\n": format.Sure,
	"1 D some_words here\n2 D other_words there\n":                              format.No,
	"  PID TTY      STAT   TIME COMMAND\n 4711 ?  D  0:01 mysqld\n":             format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(heading+strings.Repeat(" 4711 root     mysqld          D jbd2_log_wait_commit\n", 20_000)))
}

// A name that ps has cut off counts where all that it may be wait for the same.
func TestAwaited(t *testing.T) {
	for channel, want := range map[string]string{"rpc_wa": awaitsFiles, "jbd2_l": evidence.KernelFsync, "io_sch": evidence.KernelDisk, "xfs_re": evidence.KernelReclaim, "xfs_lo": evidence.KernelFsync,
		"vfs_fsync_range": evidence.KernelFsync, "poll_s": "", "-": "", "ep_poll": ""} {
		if got := mechanismAt(channel); got != want {
			t.Errorf("%s: %q, want %q", channel, got, want)
		}
	}
}

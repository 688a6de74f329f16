package export

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/threaddump"
)

// A JVM's stacks are written as jstack does, so that they are read again as what they were.
func TestJavaStacks(t *testing.T) {
	read := func(text string) (*Source, []string) {
		b := evidence.NewBundle()
		a := &format.Artifact{Name: "dump.txt", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
		if err := format.Read(context.Background(), []format.Format{threaddump.Format}, a, b); err != nil {
			t.Fatal(err)
		}
		s := &Source{Bundle: b}
		var says []string
		of := threads.Of(b, platform.Stacks())
		for _, l := range of.Samples(0) {
			says = append(says, l.View.Pool+" "+l.View.Doing()+" "+l.View.Owner)
		}
		return s, says
	}
	s, want := read(`Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):

"pricer-1" #24 prio=5 tid=0x1 nid=0x5892 waiting for monitor entry
   java.lang.Thread.State: BLOCKED (on object monitor)
	at shop.Shop.price(Shop.java:26)
	- waiting to lock <0x00000000fef00960> (a java.lang.Object)
	at java.lang.Thread.run(java.base@17.0.15/Thread.java:840)

"repricer" #23 prio=5 tid=0x2 nid=0x588a waiting on condition
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.15/Native Method)
	at shop.Shop.reprice(Shop.java:27)

`)
	write, err := prepareStacks(s, "")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	if _, got := read(out.String()); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nread again as %q, want %q", &out, got, want)
	}
	if !strings.Contains(out.String(), "\tat shop.Shop.price(Shop.java:26)\n\t- waiting to lock") {
		t.Error(out.String())
	}
}

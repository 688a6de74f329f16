package exchanges

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A call has the stack that sent it, in the request's path, too; a stack that is not told is unknown, and one at the wrong place is not understood.
func TestSites(t *testing.T) {
	w := newText()
	w.WriteString("s 3 syscall.write\tnet.(*conn).Write\tmain.(*store).find\n" +
		"k 1763689985001000000 0 4000000 0 80 90 1 1 9/1@3 9/1 4000 10.0.0.7:5432 postgresql idle SELECT orders\n" +
		"k 1763689985006000000 0 2000000 0 80 90 1 1 9/1@4 9/1 4000 10.0.0.7:5432 postgresql idle SELECT orders\n" +
		"k 1763689985006000000 0 2000000 0 80 90 1 1 9/1 9/1@3 4000 10.0.0.7:5432 postgresql idle SELECT orders\n" +
		"q 1763689985000000000 0 9000000 0 80 90 1 1 9/1 9/1 8080/1 - http 200 GET /orders\n")
	b := w.read(t, 20)
	var sites []string
	for i, k := range b.Intervals.Kind {
		if k == evidence.Call {
			site := ""
			for _, f := range b.Stacks.Frames(b.Intervals.Stack.At(i)) {
				site += b.Names.Text(f.Func) + ";"
			}
			sites = append(sites, site)
		}
	}
	if len(sites) != 2 || sites[0] != "syscall.write;net.(*conn).Write;main.(*store).find;" || sites[1] != "" {
		t.Errorf("sites %q", sites)
	}
	var waited int64
	for s := range b.Requests.Path(0).All {
		if s.Kind == evidence.NetWait && s.Stack != 0 {
			waited += s.Dur
		}
	}
	if waited != 4e6 {
		t.Errorf("the request waits %d ns where the code is known", waited)
	}
}

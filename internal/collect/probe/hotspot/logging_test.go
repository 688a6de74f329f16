package hotspot

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

const list = `Available log levels: off, trace, debug, info, warning, error
Described tag sets:
 logging: Logging for the log framework itself
Log output configuration:
 #0: stdout all=warning uptime,level,tags foldmultilines=false
 #1: stderr all=off uptime,level,tags foldmultilines=false
 #2: file=/var/log/my app/gc.log all=off,gc*=info,safepoint=debug time,uptime filecount=5,filesize=20480K,async=false
 #3: file=gc-%p.log all=off,gc=info uptime,level,tags filecount=5,filesize=20480K (reconfigured)
`

func TestParseOutputs(t *testing.T) {
	all := parseOutputs(list)
	var names []string
	var details []detail
	for _, o := range all {
		names, details = append(names, o.name), append(details, o.parseDetail())
	}
	if d := cmp.Diff([]string{"stdout", "stderr", "file=/var/log/my app/gc.log", "file=gc-%p.log"}, names); d != "" {
		t.Error(d)
	}
	want := []detail{{}, {}, {gc: true, everything: true, safepoints: true}, {gc: true}}
	if d := cmp.Diff(want, details, cmp.AllowUnexported(detail{})); d != "" {
		t.Error(d)
	}
}

func TestWrites(t *testing.T) {
	vm := attach.At(4711, "")
	for _, c := range []struct {
		output, open string
		want         bool
	}{
		{"file=/var/log/gc.log", "5 /var/log/gc.log", true},
		{"file=/var/log/gc-%p.log", "5 /var/log/gc-4711.log", true},
		{"file=/var/log/gc-%t.log", "5 /var/log/gc-2026-11-21_14-00-00.log", true},
		{"file=/var/log/[a].log", "5 /var/log/[a].log", true},
		{"file=/var/log/gc.log", "5 /var/log/other.log", false},
		{"stdout", "1 /var/log/app.out", true},
		{"stdout", "2 /var/log/app.out", false},
		{"stderr", "2 /var/log/app.err", true},
	} {
		if got := (output{name: c.output}).writesTo(c.open, vm); got != c.want {
			t.Errorf("%s writes %s: %v", c.output, c.open, got)
		}
	}
}

func FuzzParseOutputs(f *testing.F) {
	f.Add(list)
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range parseOutputs(text) {
			o.parseDetail()
		}
	})
}

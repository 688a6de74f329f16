package jvm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	formats "github.com/unstall/unstall/internal/format/all"
)

// corpus is a folder of other people's GC logs beside the repository.
const corpus = "../../../../../shared/corpus/gclog"

// TestLogsAlone holds logs of which nothing else is known to what they are about: that
// must be supported, ranked by the time that was stopped.
func TestLogsAlone(t *testing.T) {
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("the corpus of GC logs is not beside the repository: %v", err)
	}
	for name, want := range map[string]string{
		"2858ab-8CMSParser.log":                     "jvm.cms-concurrent-mode-failure",
		"93b2be-8CMSPromotionFailed.log":            "jvm.cms-concurrent-mode-failure",
		"a50434-dataset69.txt":                      "jvm.cms-concurrent-mode-failure",
		"16cd1e-dataset53.txt":                      "jvm.g1-evacuation-failure",
		"986e62-gc_with_overflow.log":               "jvm.full-gc", // 381 of them; 46 evacuation failures before are told, too
		"037414-959_gc.log.lasttest":                "jvm.full-gc", // of 3.9 s, a thousandth of two days
		"ba2461-854_gcstats_rdms3_20110124.txt":     "jvm.full-gc",
		"8eafa5-dataset116.txt":                     "jvm.full-gc", // of 40.7 s
		"d0df48-815_gc.log":                         "jvm.full-gc", // CMS, and nothing says that it failed
		"d152d8-dataset130.txt":                     "jvm.long-pause",
		"0b4618-dataset96.txt":                      "jvm.long-pause",
		"faddfc-dataset180.txt":                     "jvm.g1-evacuation-failure",
		"713bb0-dataset232.txt":                     "jvm.g1-humongous",
		"f28daa-dataset118.txt":                     "jvm.g1-humongous",
		"0e8998-factorization-serialgc-tip.log":     "jvm.explicit-gc",
		"9d6635-dataset220.txt":                     "jvm.explicit-gc",
		"a3d3ef-SampleSun1_8_0G1SystemGcYoung.txt":  "jvm.explicit-gc",
		"36455f-dataset219.txt":                     "", // 31 ms of a log of 31 ms
		"71b2a4-dataset210.txt":                     "jvm.metaspace-gc",
		"2e770d-SampleSun1_7_0-01_G1_young.txt":     "",
		"9a4b53-11G1ParserDetectHeapRegionSize.log": "",
	} {
		path := filepath.Join(corpus, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		b := incident.NewBundle()
		if err := format.Read(context.Background(), formats.Formats, format.File(path), b); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first := ""
		if len(d.Verdicts) > 0 && d.Verdicts[0].Verdict == check.Supported {
			first = d.Verdicts[0].Cause
		}
		if first != want {
			t.Errorf("%s: first is %q, want %q", name, first, want)
		}
		if d.RankedBy != "stopped_time" || d.Requests != nil {
			t.Errorf("%s: ranked by %s", name, d.RankedBy)
		}
	}
}

// TestStretch wants of a log of a day whose full collections lie in nine of its minutes that these are named, though of all the time
// they take next to nothing.
func TestStretch(t *testing.T) {
	path := filepath.Join(corpus, "986e62-gc_with_overflow.log")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the corpus of GC logs is not beside the repository: %v", err)
	}
	b := incident.NewBundle()
	if err := format.Read(context.Background(), formats.Formats, format.File(path), b); err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first := d.Verdicts[0]; !strings.HasPrefix(first.Title, "From 0:00:59 to 0:08:59 of the log, where they take 82 % of the time: 381 full collections") {
		t.Errorf("%s: %s", first.Cause, first.Title)
	}
	// And within these minutes nothing else is.
	if d, err = diagnose.Run(context.Background(), b, diagnose.Options{Since: time.Unix(60, 0), Until: time.Unix(540, 0)}); err != nil {
		t.Fatal(err)
	}
	if first := d.Verdicts[0]; first.Cause != "jvm.full-gc" || strings.HasPrefix(first.Title, "From") {
		t.Errorf("%s: %s", first.Cause, first.Title)
	}
}

package phpfpm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Status, Others: []format.Format{Config, Slow, Log, Both, Access}, Name: "php-fpm", Modified: 1_795_268_461e9,
	Match: map[string]format.Confidence{
		"pool:                 www\nprocess manager:      static\n":                                                    format.Sure,
		`{"pool":"www","process manager":"static",`:                                                                    format.Sure,
		"== 1795268461318000000 php-fpm status of 4711 ==\n":                                                           format.Sure,
		"== 1795268461318000000 hsperfdata of 4711 ==\n":                                                               format.No,
		"pool: a swimming pool\n":                                                                                      format.No,
		"[23-Nov-2026 08:00:00] NOTICE: fpm is running, pid 7\n":                                                       format.Sure,
		"[23-Nov-2026 08:00:00] NOTICE: another program is running\n":                                                  format.No,
		"[23-Nov-2026 08:02:06]  [pool www] pid 4712\nscript_filename = /x.php\n":                                      format.Sure,
		"[23-Nov-2026 08:02:06]  [pool www] pid 4712\n":                                                                format.No,
		"[www]\nlisten = 9000\npm.max_children = 5\n":                                                                  format.Sure,
		"[www]\nlisten = 9000\n":                                                                                       format.No,
		`- -  23/Nov/2026:08:00:00 +0000 "GET /a.php" 200` + "\n":                                                      format.Sure,
		`10.1.2.3 - - [10/Oct/2026:13:55:36 +0000] "GET /a/7f9c2b10 HTTP/1.1" 200 12 "-" "curl/8.5.0" rt=0.003` + "\n": format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		for i := range b.Series {
			for _, v := range b.Series[i].V {
				if !(v >= 0) {
					t.Errorf("%s is %g", b.Series[i].Name, v)
				}
			}
		}
		for _, f := range b.Facts {
			if strings.Contains(f.Value, "hunter2") {
				t.Errorf("a secret is a fact: %q", f.Value)
			}
		}
		for _, x := range b.Tables {
			for _, r := range x.Rows {
				if strings.Contains(strings.Join(r, " "), "hunter2") {
					t.Errorf("a secret is in a table: %q", r)
				}
			}
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, large()) }

func large() []byte {
	var w strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&w, "127.0.0.1 -  23/Nov/2026:08:%02d:%02d +0000 \"GET /product/%d\" 200 /srv/shop/index.php %d.%03d 2048 0.00%%\n", i/6000%60, i/100%60, i, i%50, i%1000)
	}
	return []byte(w.String())
}

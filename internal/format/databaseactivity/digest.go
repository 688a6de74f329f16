package databaseactivity

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format/databaselog"
)

// pt-query-digest sums a slow log by statement, 2.2 to 3.7 (https://docs.percona.com/percona-toolkit/pt-query-digest.html). A line of its profile:
//
//	# Rank Query ID           Response time  Calls R/Call V/M   Item
//	# ==== ================== ============== ===== ====== ===== ============
//	#    1 0x92F3B1B361FB0E5B 41.6291 62.1%     11 3.7845  9.48 SELECT words
//
// and, with --output json, an object for each statement, alone or among "classes", whose figures are texts.

// digested is such an object.
type digested struct {
	Classes     []digested
	Fingerprint string
	Distillate  string
	Count       json.Number `json:"query_count"`
	Metrics     struct {
		QueryTime struct{ Avg, Sum string } `json:"Query_time"`
	}
}

// mostDigest bounds such a file, bytes.
const mostDigest = 32 << 20

// isDigest says whether text is of pt-query-digest in JSON.
func isDigest(head []byte) bool {
	return bytes.Contains(head, []byte(`"fingerprint"`)) && bytes.Contains(head, []byte(`"Query_time"`)) && bytes.Contains(head, []byte(`"metrics"`)) &&
		bytes.HasPrefix(bytes.TrimSpace(head), []byte("{"))
}

// keepDigest keeps a line of JSON, which begins with an object; false for lines of other texts.
func (p *parser) keepDigest(text []byte) bool {
	if len(p.digest) == 0 && (len(p.columns) > 0 || p.innodb || p.cells != nil || p.profile || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))) {
		return false
	}
	if len(p.digest) < mostDigest {
		p.digest = append(append(p.digest, text...), '\n')
	}
	return true
}

// readDigest reads the objects that were kept, up to one that is cut off.
func (p *parser) readDigest() {
	d := json.NewDecoder(bytes.NewReader(p.digest))
	for d.More() {
		var x digested
		if err := d.Decode(&x); err != nil {
			return
		}
		p.addDigested(&x)
		for i := range x.Classes {
			p.addDigested(&x.Classes[i])
		}
	}
}

func (p *parser) addDigested(x *digested) {
	s := statement{text: databaselog.Fingerprint(x.Fingerprint), calls: -1, total: parseDigit(x.Metrics.QueryTime.Sum) * 1e3, mean: parseDigit(x.Metrics.QueryTime.Avg) * 1e3, line: 1}
	if n, err := x.Count.Float64(); err == nil {
		s.calls = n
	} else if s.mean > 0 && s.total > 0 {
		s.calls = float64(int64(s.total/s.mean + .5))
	}
	if s.text == "" {
		s.text = clipText(x.Distillate)
	}
	p.product = "MySQL"
	p.addSum(s)
}

// parseDigit reads a figure that is a text; −1 if it is none.
func parseDigit(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e12) {
		return -1
	}
	return v
}

// readProfileRow reads a line of the profile; false for other lines. Its heading must have come before.
func (p *parser) readProfileRow(text string, line int64) bool {
	f := strings.Fields(strings.TrimPrefix(text, "#"))
	if len(f) > 5 && f[0] == "Rank" && f[1] == "Query" && f[2] == "ID" {
		p.profile = true
		return true
	}
	if !p.profile || len(f) < 7 || !isDigits(f[0]) || !strings.HasPrefix(f[1], "0x") || !strings.HasSuffix(f[3], "%") {
		return false
	}
	s := statement{calls: parseDigit(f[4]), total: parseDigit(f[2]) * 1e3, mean: parseDigit(f[5]) * 1e3, line: line}
	item := f[6:]
	if len(item) > 1 && parseDigit(item[0]) >= 0 { // V/M
		item = item[1:]
	}
	s.text = clipText(strings.Join(item, " "))
	p.product = "MySQL"
	p.addSum(s)
	return true
}

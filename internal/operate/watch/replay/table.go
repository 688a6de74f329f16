package replay

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// A table of figures, as a store exports them. The first column is the time. Each other column is a series, under the
// name that rules use.
//
//	time,System.Runtime/loh-size,proc/cpu
//	2026-11-01T00:00:00Z,83886080,12.5
//
// A blank cell is no figure. Times are RFC 3339, "2026-11-01 00:00:00" in UTC, or seconds or milliseconds since 1970. A
// column service, if there is one, names the service of the row.

// ErrNoTable says that a file is not such a table.
var ErrNoTable = errors.New("no table of series")

// mostRows bounds a table: 60 days of one row a second.
const mostRows = 60 * 24 * 3600

// Table reads the sources of a table. odd is how many rows or cells could not be read.
func Table(r io.Reader, name string) (out []Source, odd int, err error) {
	c := csv.NewReader(bufio.NewReaderSize(r, 1<<20))
	c.ReuseRecord, c.FieldsPerRecord, c.TrimLeadingSpace = true, -1, true
	head, err := c.Read()
	if err != nil || len(head) < 2 || !timeColumn(head[0]) {
		return nil, 0, ErrNoTable
	}
	head = slices.Clone(head)
	service := slices.IndexFunc(head, func(h string) bool { return strings.EqualFold(h, "service") })
	known := 0
	for i, h := range head {
		head[i] = strings.TrimSpace(h)
		if _, ok := series.Of(head[i]); ok || series.Own(head[i]) {
			known++
		}
	}
	if known == 0 {
		for i, h := range head[1:] {
			if meant := series.Nearest(h); meant != "" && i+1 != service && isSeriesLike(h) {
				return nil, 0, fmt.Errorf("%s:1: unknown series %s: do you mean %s? (unstall watch --series lists them)", name, h, meant)
			}
		}
		return nil, 0, ErrNoTable
	}
	of := make(map[string]*Source)
	at := make(map[string][]int) // the index of each column's series, by service
	var order []string
	for row := 0; ; row++ {
		fields, err := c.Read()
		switch {
		case err == io.EOF:
			for _, key := range order {
				out = append(out, *of[key])
			}
			return out, odd, nil
		case err != nil:
			odd++
			if _, parse := errors.AsType[*csv.ParseError](err); !parse {
				return out, odd, err
			}
			continue
		case row == mostRows:
			return nil, odd, fmt.Errorf("%s: more than %d rows: shorten it, or use fewer rows per minute", name, mostRows)
		}
		t, ok := parseTime(fields[0])
		if !ok {
			odd++
			continue
		}
		key := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		if service > 0 && service < len(fields) && fields[service] != "" {
			key = strings.Clone(fields[service])
		}
		s := of[key]
		if s == nil {
			s = &Source{Subject: rule.Subject{Key: key, Service: key}}
			of[key], order = s, append(order, key)
			at[key] = make([]int, len(head))
			for i := 1; i < len(head); i++ {
				if i == service {
					continue
				}
				at[key][i] = len(s.Series)
				s.Series = append(s.Series, metrics.Watchable{ID: head[i]})
			}
		}
		for i := 1; i < len(head) && i < len(fields); i++ {
			if i == service || fields[i] == "" {
				continue
			}
			x := &s.Series[at[key][i]]
			v, err := strconv.ParseFloat(fields[i], 64)
			if n := len(x.T); err != nil || math.IsNaN(v) || math.IsInf(v, 0) || n > 0 && t <= x.T[n-1] {
				odd++
				continue
			}
			x.T, x.V = append(x.T, t), append(x.V, v)
		}
	}
}

// isSeriesLike says whether a column's name looks like the name of a series.
func isSeriesLike(h string) bool {
	return strings.ContainsAny(h, "/.-") && suggest.Nearest(h, series.IDs()) != ""
}

func timeColumn(h string) bool {
	h = strings.ToLower(strings.Trim(h, "\ufeff \""))
	return h == "time" || h == "timestamp" || h == "ts"
}

func parseTime(s string) (int64, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixNano(), true
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || !(v > 0) || v > 1e14:
		return 0, false
	case v > 1e11: // in ms: as seconds it would be after the year 5000
		return int64(v * 1e6), true
	}
	return int64(v * 1e9), true
}

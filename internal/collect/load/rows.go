package load

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// RowsHeader begins a file of requests; name=value pairs about the run follow.
const RowsHeader = "# unstall.requests/v1"

// RowWriter writes requests as text, a line for each, in order of their ends as
// far as they are known together:
//
//	# unstall.requests/v1 url=http://127.0.0.1:8080/ mode=open
//	# intended_ns sent_ns end_ns lag_ns status bytes outcome route
//	1795227691839205414 1795227691839211020 1795227691841463472 5606 200 128 ok GET /play/{id}
//
// Times are ns since the epoch, sent 0 if it never was, status 0 without an
// answer; the route goes on to the end of the line, or to a tab, behind which
// stand the journey it was a part of, another tab, and the step. It is safe for
// one goroutine.
type RowWriter struct {
	w    *bufio.Writer
	line []byte
}

// NewRowWriter writes the header lines.
func NewRowWriter(w io.Writer, p *Plan) *RowWriter {
	b := bufio.NewWriterSize(w, 64<<10)
	var at string
	if u, err := parseURL(p.URL); err == nil {
		at = formatPlanURL(u)
	}
	_, _ = fmt.Fprintf(b, "%s url=%s mode=%s arrivals=%s\n# intended_ns sent_ns end_ns lag_ns status bytes outcome route\n", RowsHeader, at, p.Mode, p.Arrivals) // an error stays with b
	return &RowWriter{w: b}
}

// Write writes requests; an error is of this or an earlier call.
func (w *RowWriter) Write(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		b := w.line[:0]
		for _, v := range [...]int64{r.Intended, r.Sent, r.End, r.Lag, int64(r.Status), r.Bytes} {
			b = append(strconv.AppendInt(b, v, 10), ' ')
		}
		b = append(append(b, r.Outcome.String()...), ' ')
		b = append(b, r.Route...)
		if r.Journey != "" {
			b = append(append(append(append(b, '\t'), r.Journey...), '\t'), r.Step...)
		}
		b = append(b, '\n')
		w.line = b
		if _, err := w.w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes what is still in memory, at most 64 KiB.
func (w *RowWriter) Flush() error { return w.w.Flush() }

package ledger

import "github.com/unstall/unstall/internal/analyze/metrics"

// RequestsOf returns a ledger's requests for figures that are read beside them; nil for a nil ledger or one without requests.
func (l *Ledger) RequestsOf() *metrics.Beside {
	if l == nil || len(l.Rows) == 0 {
		return nil
	}
	return &metrics.Beside{Window: metrics.Window{From: l.From, Until: l.To}, Source: l.Source, Clock: l.b.Requests.Clock.At(l.Rows[0])}
}

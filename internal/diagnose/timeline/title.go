package timeline

import "github.com/unstall/unstall/internal/analyze/ledger"

// Titles returns the titles of the ledger's mechanisms by their ids.
func (t *Timeline) Titles() map[string]string {
	titles := make(map[string]string, ledger.NumMechanisms)
	for m := range ledger.NumMechanisms {
		titles[m.String()] = m.TitleOf(t.Lanes)
		if t.ledger != nil {
			titles[m.String()] = t.ledger.TitleOf(m, t.Lanes)
		}
	}
	return titles
}

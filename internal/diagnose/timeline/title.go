package timeline

import "github.com/unstall/unstall/internal/analyze/ledger"

// Titles returns the titles of the ledger's mechanisms by their ids, for a timeline whose requests
// run on goroutines or threads (lanes).
func Titles(lanes string) map[string]string {
	titles := make(map[string]string, ledger.NumMechanisms)
	for m := range ledger.NumMechanisms {
		titles[m.String()] = m.TitleOf(lanes)
	}
	return titles
}

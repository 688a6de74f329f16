package timeline

import "github.com/unstall/unstall/internal/analyze/ledger"

// Titles are what the ledger's mechanisms are called, by their ids, of a time line
// whose requests run on goroutines or threads.
func Titles(lanes string) map[string]string {
	titles := make(map[string]string, ledger.NumMechanisms)
	for m := range ledger.NumMechanisms {
		titles[m.String()] = m.TitleOf(lanes)
	}
	return titles
}

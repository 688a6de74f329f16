package timeline

import "github.com/unstall/unstall/ledger"

// Titles are what the ledger's mechanisms are called, by their ids.
func Titles() map[string]string {
	titles := make(map[string]string, ledger.NumMechanisms)
	for m := range ledger.NumMechanisms {
		titles[m.String()] = m.Title()
	}
	return titles
}

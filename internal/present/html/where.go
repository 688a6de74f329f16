package html

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// whereView is where the slow time went: one bar of all of it, and a row for each
// of its pieces.
type whereView struct {
	N, H  int
	Title string
	Of    string // whose time it is
	Aria  string
	Rows  []whereRow
	Note  string // why the rows differ from the first cause's share, "" if they agree
	How   string // what the words of the last column mean
}

type whereRow struct {
	ID                   string // of the mechanism, for its colour
	Pattern              string // "" plain
	Title, Amount, Share string
	Note                 string
	X, W                 string // of the whole, %
	Bar                  string // of the longest, %
	Wide                 bool   // it can be seen in the bar
	Label                string // inside the bar, "" no room
}

// patterns tell mechanisms of one family of colours apart without the colour.
var patterns = map[string]string{
	"mark_assist": "p-stripe", "stop_the_world": "p-cross",
	"requests_cpu": "p-stripe", "host_cpu": "p-stripe",
	"pool": "p-stripe", "client": "p-stripe",
	"pool_thread": "p-stripe", "awaiting": "p-lines",
	"queue": "p-back", "delivery": "p-dots", "wakeup": "p-dots", "timer": "p-lines", "generator_lag": "p-cross",
	"recorder": "p-lines", "unobserved": "p-dots", "unexplained": "p-back",
}

// The shares of the bar from which a piece is drawn and from which its share is written on it.
const (
	visibleShare  = .001
	labelledShare = .11
)

func newWhereView(d *diagnose.Diagnosis, n, h int) *whereView {
	rows, total := sentence.Ledger(d)
	if len(rows) == 0 {
		return nil
	}
	v := &whereView{N: n, H: h, Title: "Where " + sentence.Where(d, total), Of: "all slow requests", Note: sentence.Reconciled(d), How: sentence.Methods(rows)}
	if r := d.Requests; r != nil && r.Slow > 0 && !sentence.Several(d) {
		v.Of = "the " + units.Plural(r.Slow, "slow request")
		if r.LedgerSource != "" {
			v.Of += " in " + sentence.LedgerFiles(r)
		}
	}
	amount := sentence.Amounts(total)
	var longest float64
	for _, r := range rows {
		longest = max(longest, r.Ms)
	}
	var said []string
	at := 0.
	for _, r := range rows {
		share := r.Ms / total
		w := whereRow{ID: r.Mechanism, Pattern: patterns[r.Mechanism], Title: r.Title, Amount: amount(r), Share: units.Percent(share), Note: r.Note,
			X: formatPercentage(at), W: formatPercentage(share), Bar: formatPercentage(r.Ms / longest), Wide: share >= visibleShare}
		if share >= labelledShare {
			w.Label = w.Share
		}
		if r.Ms == 0 { // said in words
			w.Share = ""
		}
		if w.Wide {
			said = append(said, fmt.Sprintf("%s %s (%s)", w.Title, w.Amount, w.Share))
		}
		at += share
		v.Rows = append(v.Rows, w)
	}
	v.Aria = v.Title + ": " + strings.Join(said, ", ")
	return v
}

// formatPercentage returns a share as a percentage for a drawing.
func formatPercentage(share float64) string {
	if math.IsNaN(share) || share < 0 {
		share = 0
	}
	return fmt.Sprintf("%.4g", 100*min(share, 1))
}

package all

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"slices"
	"sync"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// Margins says where thresholds lie among the figures of recordings whose causes are known. dev/thresholds measures them.
type Margins struct {
	Date       string `json:"date"`
	Recordings int    `json:"recordings"`
	Sick       int    `json:"sick"` // of these
	// Computed are thresholds that no figure is compared with: they are part of a computation.
	Computed []string `json:"computed"`
	// Never are thresholds that no figure of any recording was compared with.
	Never   []string `json:"never"`
	Margins []Margin `json:"margins"` // by cause and name
}

// Margin is the margin of one threshold. A recording counts once, by the figure that its verdict keeps, or by the largest that was
// compared.
type Margin struct {
	Cause   string  `json:"cause"` // "" all causes that compare with it, where these are more than [Shared]
	Name    string  `json:"name"`
	Value   float64 `json:"value"`  // of the threshold when it was measured
	With    Spread  `json:"with"`   // recordings with this cause
	Without Spread  `json:"others"` // healthy ones, and those with another cause
	// Near is how many recordings have a figure within ±20 % of the threshold.
	Near int `json:"near"`
	// Unknown is in how many recordings the figure was asked for and not known.
	Unknown int `json:"unknown,omitempty"`
}

// Spread sums up the figures of recordings.
type Spread struct {
	Count   int      `json:"n"`
	Reached int      `json:"reached"` // at or above the threshold
	Least   *float64 `json:"least,omitempty"`
	Median  *float64 `json:"median,omitempty"` // with the cause
	P95     *float64 `json:"p95,omitempty"`    // without
	Most    *float64 `json:"most,omitempty"`
}

// Near is the part of a threshold within which a figure is near it.
const Near = .2

// Shared is the number of causes above which a threshold has one margin for all of them; [check.Material] also has one for each.
const Shared = 3

//go:embed margins.json.gz
var marginsFile []byte

// ReadMargins returns the measured margins. It panics if the file in the program is damaged.
var ReadMargins = sync.OnceValue(func() *Margins {
	m := new(Margins)
	z, err := gzip.NewReader(bytes.NewReader(marginsFile))
	if err == nil {
		err = json.NewDecoder(z).Decode(m)
	}
	if err != nil {
		panic(err)
	}
	return m
})

// Users returns the causes that compare with a threshold.
func Users(t check.Threshold) (ids []string) {
	for _, k := range Causes {
		for _, x := range k.Thresholds {
			if x == t {
				ids = append(ids, k.ID)
			}
		}
	}
	return ids
}

// Measured says whether a threshold was there when the margins were measured.
func (m *Margins) Measured(name string) bool {
	return slices.Contains(m.Computed, name) || slices.Contains(m.Never, name) || slices.ContainsFunc(m.Margins, func(x Margin) bool { return x.Name == name })
}

// Of returns the margin of a threshold for a cause; with "", that for all causes which share it.
func (m *Margins) Of(cause string, t check.Threshold) (Margin, bool) {
	for _, x := range m.Margins {
		if x.Cause == cause && x.Name == t.Name && x.Value == t.Value {
			return x, true
		}
	}
	return Margin{}, false
}

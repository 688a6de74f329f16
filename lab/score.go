package lab

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// ScoreSchema is the version of the JSON form of a [Score].
const ScoreSchema = "unstall.lab.score/v1"

// Score holds what was expected of the variants of labs against what was found.
type Score struct {
	Schema   string      `json:"schema"`
	Variants []ScoreLine `json:"variants"`
	// Top is the share of the variants with one known cause in which it was ranked
	// first, null without any.
	Top *float64 `json:"top_1_accuracy"`
	// FalseAlarms are variants in which something was found that must not be.
	FalseAlarms int  `json:"false_alarms"`
	Pass        bool `json:"pass"` // of every lab
}

// ScoreLine is one variant.
type ScoreLine struct {
	Lab      string   `json:"lab"`
	Variant  string   `json:"variant"`
	Expected Expected `json:"expected"`
	Found    []string `json:"found"`
	OK       bool     `json:"ok"`
}

// ScoreOf sums up outcomes.
func ScoreOf(outcomes []*Outcome) Score {
	s := Score{Schema: ScoreSchema, Variants: []ScoreLine{}, Pass: len(outcomes) > 0}
	known, first := 0, 0
	for _, o := range outcomes {
		s.Pass = s.Pass && o.Pass
		for _, r := range o.Variants {
			s.Variants = append(s.Variants, ScoreLine{o.Lab, r.Name, r.Expected, r.Found, r.OK})
			if r.Expected.First != "" {
				known++
				if len(r.Found) > 0 && r.Found[0] == r.Expected.First {
					first++
				}
			}
			if anyOf(r.Found, r.Expected.Not) || anyOf(r.Found, r.Expected.NoneOf) {
				s.FalseAlarms++
			}
		}
	}
	if known > 0 {
		top := float64(first) / float64(known)
		s.Top = &top
	}
	return s
}

func anyOf(found, not []string) bool {
	for _, f := range found {
		for _, n := range not {
			if f == n {
				return true
			}
		}
	}
	return false
}

// ReportScore writes a score for people.
func ReportScore(w io.Writer, s Score) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LAB\tVARIANT\tEXPECTED\tFOUND\t")
	for _, l := range s.Variants {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", l.Lab, l.Variant, l.Expected, formatFound(l.Found), markWord(l.OK, false))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	top := "no variant has exactly one known cause"
	if s.Top != nil {
		top = fmt.Sprintf("%.0f %%", 100**s.Top)
	}
	_, err := fmt.Fprintf(w, "\nthe known cause ranked first: %s · false alarms: %d of %d\n", top, s.FalseAlarms, len(s.Variants))
	return err
}

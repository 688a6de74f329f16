package accesslog

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// reading is one value of a duration field of unknown unit, and the
// time of its line.
type reading struct {
	at int64
	v  decimal
}

// guess is a unit inferred from the data.
type guess struct {
	unit  int64
	stamp evidence.Stamp // unknown: the order of lines does not show it
	why   string
}

// guessUnit infers the unit of the integers that end lines of common log
// format: Apache's %D counts µs and its %T seconds, Tomcat's %D ms up to version
// 9 and µs from 10.
//
//  1. Lines are written when a request is done. Where the time marks its start,
//     long requests appear late, by their duration: lateness ÷ value is the unit.
//  2. Else by size. Over 90 % zeros: whole seconds. A zero in 500 lines, or values
//     below 30 in one of ten: ms, as no server answers that often within 30 µs.
//     Else µs: requests that mostly take 1 ms are more common than ones that
//     mostly take 1 s.
func guessUnit(rows []reading) guess {
	if unit, late := findLateUnit(rows); unit != 0 {
		return guess{unit, evidence.StampStart, fmt.Sprintf("%d long requests were logged that much after they began", late)}
	}
	sorted := sortedValues(rows)
	n := len(sorted)
	if n == 0 {
		return guess{unit: 1e6, why: "no value shows the unit"}
	}
	zero, small := 0, 0
	for _, v := range sorted {
		if v == 0 {
			zero++
		}
		if v < 30 {
			small++
		}
	}
	g := guess{unit: 1e3, why: fmt.Sprintf("median %.0f, and only %d of %d below 30", sorted[n/2], small, n)}
	switch {
	case zero*10 > n*9 && sorted[n-1] < 1000:
		g = guess{unit: 1e9, why: fmt.Sprintf("%d of %d are 0", zero, n)}
	case zero*500 > n || small*10 > n:
		g = guess{unit: 1e6, why: fmt.Sprintf("%d of %d are below 30, %d are 0", small, n, zero)}
	}
	long, late := 0, 0
	var newest int64
	for _, r := range rows {
		ns, _ := r.v.toNanoseconds(g.unit)
		if ns >= 4e9 {
			long++
		}
		if newest-r.at >= 2e9 {
			late++
		}
		newest = max(newest, r.at)
	}
	switch {
	case long >= 3 && late == 0:
		g.stamp = evidence.StampCompletion
	case g.unit == 1e6:
		g.stamp = evidence.StampCompletion // Tomcat
	default:
		g.stamp = evidence.StampStart // Apache
	}
	return g
}

// findLateUnit finds the unit that explains late lines; 0 if none does.
func findLateUnit(rows []reading) (unit int64, late int) {
	var votes [3]int
	units := [3]int64{1e3, 1e6, 1e9}
	var newest int64
	for _, r := range rows {
		if lag := newest - r.at; lag >= 2e9 && r.v.mantissa > 0 {
			late++
			for i, u := range units {
				if ns, ok := r.v.toNanoseconds(u); ok && ns >= 1e9 && ns/3 < lag+1e9 && lag < ns+15e8 {
					votes[i]++
					break
				}
			}
		}
		newest = max(newest, r.at)
	}
	for i, n := range votes {
		if n >= 3 && n*10 >= late*7 {
			return units[i], late
		}
	}
	return 0, late
}

// guessKeyed infers the unit of a figure in structured logs, which use
// integers of ms, float seconds, float ms, and integer ns (Go's Duration).
func guessKeyed(rows []reading) guess {
	sorted := sortedValues(rows)
	n := len(sorted)
	if n == 0 {
		return guess{unit: 1e6, why: "no value shows the unit"}
	}
	median := sorted[n/2]
	fractions := slices.ContainsFunc(rows, func(r reading) bool { return r.v.places > 0 && r.v.toFloat() != float64(int64(r.v.toFloat())) })
	unit := int64(1e6)
	switch {
	case fractions && (median < 0.05 || median < 1 && sorted[n-1] < 100):
		unit = 1e9
	case fractions:
	case median >= 1e6:
		unit = 1
	case median >= 1e4:
		unit = 1e3
	}
	why := fmt.Sprintf("whole numbers with a median of %.0f", median)
	if fractions {
		why = fmt.Sprintf("fractions with a median of %.6g", median)
	}
	return guess{unit: unit, why: why}
}

func sortedValues(rows []reading) []float64 {
	sorted := make([]float64, 0, len(rows))
	for _, r := range rows {
		sorted = append(sorted, r.v.toFloat())
	}
	slices.Sort(sorted)
	return sorted
}

// secondsByForm says whether values are seconds by how they are written: always
// three decimals (nginx's $request_time, Tomcat's %T) or always six (gunicorn).
func secondsByForm(rows []reading) bool {
	if len(rows) == 0 {
		return false
	}
	for _, r := range rows {
		if r.v.places != rows[0].v.places || r.v.toFloat() > 1e6 {
			return false
		}
	}
	return rows[0].v.places == 3 || rows[0].v.places == 6
}

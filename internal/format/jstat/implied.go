package jstat

import (
	"math"
	"strconv"
	"strings"
)

// layouts are the columns of -gcutil and -gc, by their number: users paste rows without the heading, and a row of these two options
// shows by itself which option it is of. -t puts the time before.
var layouts = map[int][]string{
	10: strings.Fields("S0 S1 E O P YGC YGCT FGC FGCT GCT"),                                          // -gcutil up to JDK 7
	11: strings.Fields("S0 S1 E O M CCS YGC YGCT FGC FGCT GCT"),                                      // 8 to 10
	13: strings.Fields("S0 S1 E O M CCS YGC YGCT FGC FGCT CGC CGCT GCT"),                             // from 11 on
	15: strings.Fields("S0C S1C S0U S1U EC EU OC OU PC PU YGC YGCT FGC FGCT GCT"),                    // -gc up to JDK 7
	17: strings.Fields("S0C S1C S0U S1U EC EU OC OU MC MU CCSC CCSU YGC YGCT FGC FGCT GCT"),          // 8 to 10
	19: strings.Fields("S0C S1C S0U S1U EC EU OC OU MC MU CCSC CCSU YGC YGCT FGC FGCT CGC CGCT GCT"), // from 11 on
}

// impliedColumns returns the columns of a row without its heading, nil if no known
// layout fits: counts are whole numbers, times have three decimals and add up to the last of them,
// shares are percent, and the used part of a space is no more than its size.
func impliedColumns(text string) []string {
	f := strings.Fields(text)
	for _, timed := range []int{0, 1} {
		names := layouts[len(f)-timed]
		if names == nil || !fitsColumns(names, f[timed:]) {
			continue
		}
		if timed == 1 {
			if !isTime(f[0], 1) {
				continue
			}
			names = append([]string{"Timestamp"}, names...)
		}
		return names
	}
	return nil
}

func fitsColumns(names, f []string) bool {
	var sum, total, last float64
	for i, name := range names {
		if name == "CGC" && f[i] == "-" || name == "CGCT" && f[i] == "-" {
			continue
		}
		v, err := strconv.ParseFloat(strings.Replace(f[i], ",", ".", 1), 64)
		if f[i] == "-" && len(name) <= 3 && name != "YGC" && name != "FGC" && name != "GCT" { // a space that this collector has not
			continue
		}
		if err != nil || v < 0 || v > 1e12 {
			return false
		}
		switch {
		case name == "YGC" || name == "FGC" || name == "CGC":
			if strings.ContainsAny(f[i], ".,") {
				return false
			}
		case name == "GCT":
			total = v
		case strings.HasSuffix(name, "GCT"):
			if !isTime(f[i], 3) {
				return false
			}
			sum += v
		case len(names) <= 13 && v > 100:
			return false
		case len(names) > 13 && strings.HasSuffix(name, "U") && !strings.HasPrefix(name, "S") && v > last:
			return false
		}
		last = v
	}
	return total > 0 && math.Abs(total-sum) < .0025
}

// isTime says whether a figure has that many digits behind the point.
func isTime(s string, digits int) bool {
	_, after, ok := strings.Cut(strings.Replace(s, ",", ".", 1), ".")
	return ok && len(after) == digits
}

// headless is how many lines are searched for a row without a heading.
const headless = 200

// hasImplied says whether a text has such rows: two, or one that is the whole text.
func hasImplied(head []byte) bool {
	rows, others := 0, 0
	for i, l := 0, string(head); i < headless && l != ""; i++ {
		line, more, _ := strings.Cut(l, "\n")
		l = more
		line = strings.TrimSpace(line[:min(len(line), 1024)])
		if line == "" {
			continue
		}
		if c := line[0]; (c == '-' || c >= '0' && c <= '9') && impliedColumns(line) != nil {
			if rows++; rows == 2 {
				return true
			}
			continue
		}
		others++
	}
	return rows == 1 && others == 0
}

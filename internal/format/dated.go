package format

import "time"

// dates are the forms of date(1).
var dates = []string{"Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 03:04:05 PM MST 2006", "Mon _2 Jan 15:04:05 MST 2006", "Mon _2 Jan 2006 03:04:05 PM MST", "Mon _2 Jan 2006 15:04:05 MST",
	"2006-01-02T15:04:05-07:00", "2006-01-02T15:04:05Z", "2006-01-02 15:04:05"}

// Dated reads a line that consists of a time as date(1) prints it, and returns s since the epoch. It knows no zone but UTC,
// and reads times of other zones as UTC.
func Dated(line []byte) (at int64, ok bool) {
	if len(line) < 19 || len(line) > 40 || line[3] != ' ' && line[4] != '-' || (line[0] < 'A' || line[0] > 'Z') && line[0] != '2' {
		return 0, false
	}
	for _, layout := range dates {
		if t, err := time.Parse(layout, string(line)); err == nil && t.Year() >= 1990 && t.Year() < 2100 {
			return t.Unix(), true
		}
	}
	return 0, false
}

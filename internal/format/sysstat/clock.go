package sysstat

import (
	"strings"
	"time"
)

// clock computes the times of reports, ns since the epoch, from times of day and a date
// that was printed once; without either it counts reports, 1 s apart.
type clock struct {
	day    int64 // ns of midnight, 0: no date was told
	last   int64 // ns of the time of day that was told last
	now    int64
	timed  bool // any report had a time
	reads  int64
	zoned  bool // it came with a zone, or counts since the epoch
	undate bool // a time was told without a date
}

const daily = int64(24 * time.Hour)

// setDate sets the date of the times of day that follow.
func (c *clock) setDate(date string) {
	if day, ok := dayOf(date); ok {
		c.day, c.last = day, 0
	}
}

// setTimeOfDay sets the time of day, ns. One far below the last is of the next day.
func (c *clock) setTimeOfDay(tod int64) {
	if c.timed && tod < c.last-daily/2 {
		c.day += daily
	}
	c.undate = c.undate || c.day == 0
	c.timed, c.last = true, tod
	c.now = c.day + tod
	if c.day == 0 {
		c.now += daily // not 0
	}
}

// setEpoch sets the time as pidstat -h and sar -D print it, s since the epoch.
func (c *clock) setEpoch(s int64) {
	c.timed, c.zoned, c.now = true, true, s*1e9
}

// nextReport begins the next report of those without time.
func (c *clock) nextReport() {
	if c.timed {
		return
	}
	c.reads++
	c.now = c.reads * 1e9
}

// parseReportTime reads the line above each report of iostat -t: "11/23/2026 05:05:05 AM",
// "2026-11-23T05:05:05+0000".
func (c *clock) parseReportTime(text string) bool {
	for _, layout := range []string{"2006-01-02T15:04:05-0700", "2006-01-02T15:04:05Z"} {
		if t, err := time.Parse(layout, text); err == nil && isPlausible(t) {
			c.timed, c.zoned, c.now = true, true, t.UnixNano()
			return true
		}
	}
	f := strings.Fields(text)
	if len(f) < 2 || len(f) > 3 {
		return false
	}
	day, ok := dayOf(f[0])
	tod, n := timeOf(f[1:])
	if !ok || n != len(f)-1 {
		return false
	}
	c.timed, c.day, c.last, c.now = true, day, tod, day+tod
	return true
}

func isPlausible(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 2100 }

// dayOf reads a date as locales write it.
func dayOf(s string) (ns int64, ok bool) {
	for _, layout := range []string{"2006-01-02", "01/02/2006", "01/02/06", "02/01/2006", "02/01/06", "02.01.2006", "02.01.06", "2006/01/02", "02-01-2006", "2006. 01. 02."} {
		if t, err := time.Parse(layout, s); err == nil && isPlausible(t) {
			return t.UnixNano(), true
		}
	}
	return 0, false
}

// stampWords are the words of hours and minutes in stamps of Chinese and Japanese locales.
var stampWords = strings.NewReplacer("时", ":", "時", ":", "分", ":")

// timeOf reads a time of day at the beginning of words, "05:05:05" or "05:05:05 AM", and says
// how many of them it is; 0: none.
func timeOf(f []string) (tod int64, words int) {
	if len(f) == 0 {
		return 0, 0
	}
	s := f[0]
	if strings.HasSuffix(s, "秒") { // "14时05分26秒", as the locales of China and Japan write it
		s = strings.TrimSuffix(stampWords.Replace(s), "秒")
	}
	if len(s) == 7 && s[1] == ':' { // "5:05:05"
		s = "0" + s
	}
	if len(s) != 8 || s[2] != ':' && s[2] != '.' || s[5] != s[2] {
		return 0, 0
	}
	var v [3]int64
	for i := range v {
		a, b := s[3*i], s[3*i+1]
		if a < '0' || a > '9' || b < '0' || b > '9' {
			return 0, 0
		}
		v[i] = int64(a-'0')*10 + int64(b-'0')
	}
	if v[0] > 23 || v[1] > 59 || v[2] > 60 {
		return 0, 0
	}
	words = 1
	if len(f) > 1 {
		switch half := strings.ToUpper(strings.ReplaceAll(f[1], ".", "")); {
		case (half == "AM" || half == "PM") && (v[0] < 1 || v[0] > 12):
			return 0, 0
		case half == "AM":
			v[0], words = v[0]%12, 2
		case half == "PM":
			v[0], words = v[0]%12+12, 2
		}
	}
	return (v[0]*3600 + v[1]*60 + v[2]) * 1e9, words
}

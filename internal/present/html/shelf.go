package html

import "time"

// Shelf is a part: a list of captures and of what runs here, with ways to open, compare and record
// them. Its links lead to addresses of package web, which alone serves it.
type Shelf struct {
	Dir          string // as the user named it
	Query, Sort  string // what is shown: "time", "verdict" or "service"
	Captures     []Shelved
	Broken       []Broken // files named like captures that cannot be read
	Left         int      // captures that are not shown
	Pending      int      // of those shown, how many are not diagnosed yet
	Processes    []Running
	NoProcesses  string // why none can be listed, "" they can
	Records      bool   // something can be recorded from here
	Token        string // that a form must bring back
	Under        string // what is being recorded, "" nothing
	Failed       string // why what was asked for could not be done, "" it could
	DefaultTime  int    // seconds a recording takes
	LongestTime  int
	Instructions string // what else to know, "" nothing
}

// Shelved is a capture in the list.
type Shelved struct {
	Name, Target, Size string
	At                 time.Time
	For                time.Duration
	Cause              string // id of the first cause, "" none
	Says               string // a sentence, "" not known yet
	Tone               string // "found", "calm", "plain"
	Group              string // heading of a service and day, "": it belongs to the heading above
}

// Broken is a file that is named like a capture, and why it cannot be read.
type Broken struct{ Name, Why string }

// Running is a process that can be recorded.
type Running struct {
	PID   int
	Name  string
	About []string
}

// formatStart returns when a capture began.
func formatStart(s Shelved) string { return s.At.UTC().Format("2006-01-02 15:04:05") }

// formatRecordedTime returns how long a capture was recorded, "" unknown.
func formatRecordedTime(s Shelved) string {
	if s.For <= 0 {
		return ""
	}
	return s.For.Round(time.Second).String()
}

func (s Shelf) addTo(doc *document) error {
	doc.Forms = true
	doc.Parts = append(doc.Parts, partView{Shelf: &s})
	return nil
}

// Notice is a part: a sentence that heads a page, and its explanation.
type Notice struct {
	Label, Text string
	More        []string
	Refresh     int // seconds until the page is asked for again, 0 never
}

func (n Notice) addTo(doc *document) error {
	doc.Refresh = n.Refresh
	doc.Parts = append(doc.Parts, partView{Notice: &n})
	return nil
}

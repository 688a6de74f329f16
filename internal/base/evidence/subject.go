package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// SubjectID indexes [Bundle.Subjects].
type SubjectID int32

// SubjectKind distinguishes hosts, processes and their dependencies.
type SubjectKind uint8

// The kinds of subject.
const (
	Process SubjectKind = iota
	Host
	Dependency
)

func (k SubjectKind) String() string { return [...]string{"process", "host", "dependency"}[k] }

// Subject is what a row is about: a process, a host or a dependency. Zero fields are unknown: a gctrace log names no pid, an access log no
// runtime.
type Subject struct {
	Kind      SubjectKind
	Name      string // executable, service or host name
	PID       int
	StartTime int64  // ns since the epoch
	Runtime   string // an id that package platform knows; "" unknown
	Version   string // "go1.26.8"
	CPUs      int    // processors the runtime schedules on (GOMAXPROCS)
	Container string
	Instance  string // distinguishes runs of a program without a PID: the address of HotSpot's VM thread
	Address   string // as its clients wrote it: "127.0.0.1:8080"
	Service   string // its name in telemetry: often not its executable's
}

// Title returns a subject's name for people: "gateway pid 4711", "go process".
func (s *Subject) Title() string {
	title := cmp.Or(s.Name, s.Service)
	if title == "" {
		title = strings.TrimSpace(s.Runtime + " " + s.Kind.String())
	}
	if s.PID != 0 {
		title += fmt.Sprintf(" pid %d", s.PID)
	}
	return title
}

// Titles returns a distinct name for every subject, in the order of Subjects: the second with a title is "gateway #2". A subject without
// evidence, because it was merged into another, has "".
func (b *Bundle) Titles() []string {
	about := make([]bool, len(b.Subjects))
	for _, s := range b.Requests.Subject.All() {
		about[s] = true
	}
	for _, s := range b.Intervals.Subject.All() {
		about[s] = true
	}
	for _, s := range b.Samples.Subject {
		about[s] = true
	}
	for i := range b.Coverage {
		about[b.Coverage[i].Subject] = true
	}
	for i := range b.Facts {
		about[b.Facts[i].Subject] = true
	}
	for i := range b.Series {
		about[b.Series[i].Subject] = true
	}
	for i := range b.Processors {
		about[b.Processors[i].Subject] = true
	}
	titles := make([]string, len(b.Subjects))
	taken := make(map[string]bool)
	for i := range b.Subjects {
		if !about[i] {
			continue
		}
		base := b.Subjects[i].Title()
		title := base
		for n := 2; taken[title]; n++ {
			title = fmt.Sprintf("%s #%d", base, n)
		}
		taken[title] = true
		titles[i] = title
	}
	return titles
}

// Agree reports whether two descriptions can be of the same subject, which is so if no known fields contradict each other. Versions agree
// when one is a prefix of the other at a dot, as traces carry "go1.26" and binaries "go1.26.8". Different numbers of processors do not
// contradict for one PID: GOMAXPROCS can change, and the head of a .NET stream counts the host's processors where a counter of the same
// runtime counts those of a container's quota.
func (b *Bundle) Agree(s, o Subject) bool {
	return s.Kind == o.Kind &&
		(s.Name == "" || o.Name == "" || sameName(s.Name, o.Name) || s.PID != 0 && s.PID == o.PID && (b.isLauncher(s) || b.isLauncher(o))) &&
		(s.PID == 0 || o.PID == 0 || s.PID == o.PID) &&
		(s.StartTime == 0 || o.StartTime == 0 || abs(s.StartTime-o.StartTime) <= startSlack) &&
		(s.Runtime == "" || o.Runtime == "" || s.Runtime == o.Runtime) &&
		(s.Version == "" || o.Version == "" || versionPrefix(s.Version, o.Version) || versionPrefix(o.Version, s.Version)) &&
		(s.CPUs == 0 || o.CPUs == 0 || s.CPUs == o.CPUs || s.PID != 0 && s.PID == o.PID) &&
		(s.Container == "" || o.Container == "" || s.Container == o.Container) &&
		(s.Service == "" || o.Service == "" || s.Service == o.Service)
}

// startSlack is how much (ns) two records of one start may differ: the kernel's boot time is in whole seconds and moves when the clock is
// set.
const startSlack = 2e9

// commLength is the length to which the kernel cuts a name.
const commLength = 15

func (b *Bundle) isLauncher(s Subject) bool { return slices.Contains(b.Launchers, s.Name) }

// sameName compares the names of executables, one of which the kernel may have cut.
func sameName(a, b string) bool {
	return a == b || len(a) == commLength && strings.HasPrefix(b, a) || len(b) == commLength && strings.HasPrefix(a, b)
}

func versionPrefix(a, b string) bool {
	return strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == '.')
}

// mergeSubject fills unknown fields of s from o. Of two versions or names the longer wins, any name wins over a launcher's, and of two
// numbers of processors the smaller: the larger counts processors that the runtime was not given.
func (b *Bundle) mergeSubject(s *Subject, o Subject) {
	if (s.Name == "" || b.isLauncher(*s)) && o.Name != "" || len(o.Name) > len(s.Name) && !b.isLauncher(o) {
		s.Name = o.Name
	}
	if s.PID == 0 {
		s.PID = o.PID
	}
	if s.StartTime == 0 {
		s.StartTime = o.StartTime
	}
	if s.Runtime == "" {
		s.Runtime = o.Runtime
	}
	if len(o.Version) > len(s.Version) {
		s.Version = o.Version
	}
	if s.CPUs == 0 || o.CPUs > 0 && o.CPUs < s.CPUs {
		s.CPUs = o.CPUs
	}
	if s.Container == "" {
		s.Container = o.Container
	}
	if s.Instance == "" {
		s.Instance = o.Instance
	}
	if s.Address == "" {
		s.Address = o.Address
	}
	if s.Service == "" {
		s.Service = o.Service
	}
}

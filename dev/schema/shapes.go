package schema

import (
	"reflect"
	"time"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/model/hugepages"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/analyze/model/younggen"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/operate/calibrate"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/operate/fleet"
	"github.com/unstall/unstall/internal/operate/host"
	"github.com/unstall/unstall/internal/operate/watch"
	"github.com/unstall/unstall/lab"
)

// Documents are all that have a schema, in the order of docs/json.md.
var Documents = []Document{
	{"unstall.diagnosis/v1", "A diagnosis: unstall TARGET, unstall FILE...", reflect.TypeFor[diagnose.Diagnosis](), true},
	{"unstall.inspect/v1", "What files hold: unstall inspect FILE...", reflect.TypeFor[inspected](), true},
	{"unstall.gc/v1", "What the log of a collector holds: unstall inspect of a single one", reflect.TypeFor[collected](), true},
	{"unstall.load/v1", "What came of a load: unstall load", reflect.TypeFor[load.Result](), true},
	{"unstall.knee/v1", "The highest rate that keeps the SLO: unstall load --knee", reflect.TypeFor[load.KneeResult](), true},
	{"unstall.compare/v1", "Runs before a change and after it: unstall compare", reflect.TypeFor[compare.Comparison](), true},
	{"unstall.try/v1", "What a setting changed while it was tried: unstall try", reflect.TypeFor[experiment.Result](), true},
	{"unstall.host/v1", "What is wrong with a machine, and its services: unstall host", reflect.TypeFor[host.Report](), true},
	{"unstall.fleet/v1", "What many hosts lost, told from a store of metrics: unstall fleet", reflect.TypeFor[fleet.Report](), true},
	{"unstall.calibrate/v1", "A service beside loads of a known kind: unstall calibrate", reflect.TypeFor[calibrate.Result](), true},
	{"unstall.prediction/v1", "What a change of settings would do: unstall predict", reflect.TypeFor[answer](), true},
	{"unstall.event/v1", "What happened while it was watched: a line of unstall watch", reflect.TypeFor[watch.Line](), true},
	{"unstall.list/v1", "What runs here and can be diagnosed: unstall list", reflect.TypeFor[list](), true},
	{"unstall.lab/v1", "What came of a lab: unstall-lab run", reflect.TypeFor[lab.Outcome](), true},
	{"unstall.lab.score/v1", "Labs: what was expected against what was found: unstall-lab score", reflect.TypeFor[lab.Score](), true},
	{"unstall.capture/v1", "The manifest of a capture, its first member", reflect.TypeFor[manifest](), true},
}

// instead are the shapes of types that write themselves. The tests hold what they write to these.
var instead = map[reflect.Type]reflect.Type{
	reflect.TypeFor[diagnose.Verdict](): reflect.TypeFor[verdict](),
	reflect.TypeFor[load.Result]():      reflect.TypeFor[loaded](),
	reflect.TypeFor[model.Answer]():     reflect.TypeFor[answer](),
	reflect.TypeFor[model.Estimate]():   reflect.TypeFor[estimate](),
	reflect.TypeFor[model.Frontier]():   reflect.TypeFor[frontier](),
	reflect.TypeFor[goheap.Setting]():   reflect.TypeFor[setting](),
	reflect.TypeFor[threadpool.Asked](): reflect.TypeFor[asked](),
	reflect.TypeFor[threadpool.Point](): reflect.TypeFor[point](),
}

type need struct {
	What    string  `json:"what"`
	Command *string `json:"command"` // can be pasted; null: there is none
}

type verdict struct {
	diagnose.Verdict
	Sentences []string `json:"needs"`          // what would have to be there to say more
	Needs     []need   `json:"needs_commands"` // the same by its parts
}

type loaded struct {
	Schema string `json:"schema"`
	load.Result
}

// inspected is a report of several artifacts, or of one without a collector's events.
type inspected struct {
	Schema    string             `json:"schema"`
	Artifacts []inspect.Artifact `json:"artifacts"`
	Tables    []inspect.Table    `json:"tables,omitempty"`  // of the pieces of one log together
	Threads   []inspect.Threads  `json:"threads,omitempty"` // of each process whose stacks are there
	Warnings  []inspect.Warning  `json:"warnings"`          // of no artifact in particular
}

// collected is what the log of a collector holds, with the file beside it.
type collected struct {
	inspect.GC
	Artifacts []inspect.Artifact `json:"artifacts"`
	Tables    []inspect.Table    `json:"tables,omitempty"`  // of the pieces of one log together
	Threads   []inspect.Threads  `json:"threads,omitempty"` // of each process whose stacks are there
	Warnings  []inspect.Warning  `json:"warnings"`          // of no artifact in particular
}

// estimate is a figure and the range in which it may lie; null: not known.
type estimate struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

type setting struct {
	Text    string   `json:"text"`
	GOGC    *float64 `json:"gogc_percent"`     // null: off
	Limit   *float64 `json:"gomemlimit_bytes"` // null: none
	Ballast float64  `json:"ballast_bytes"`
}

type asked struct {
	Text    string           `json:"asked"`
	Threads estimate         `json:"pool_threads"`
	Rate    estimate         `json:"requests_per_s"`
	Latency estimate         `json:"latency_ms"`
	P99     estimate         `json:"p99_ms"`
	First   threadpool.Start `json:"first_10_s"`
	Growth  estimate         `json:"threads_per_s"` // while it climbs
	Settles estimate         `json:"settles_s"`     // from the start of the load
	Ends    string           `json:"ends"`          // "enough" | "max" | "cpu" | "climbing"
	Curve   []point          `json:"curve"`         // at most 40 rows, the same time apart
}

type point struct {
	At      float64  `json:"s"`
	Threads int      `json:"pool_threads"`
	Queue   int      `json:"queue"`
	Rate    float64  `json:"requests_per_s"`
	Latency *float64 `json:"latency_ms"` // null: nothing was answered
}

// answer is what all models say, and their own parts: null or empty where it is of another model.
type answer struct {
	Schema      string                 `json:"schema"`
	ToolVersion string                 `json:"tool_version"`
	Subject     string                 `json:"subject"`
	Model       string                 `json:"model"`
	Calibration *goheap.Calibration    `json:"calibration"`
	Measured    *goheap.Outcome        `json:"measured"` // as recorded
	Now         *goheap.Outcome        `json:"now"`      // what the model says of the same
	Settings    []goheap.Asked         `json:"settings"` // in the order they were asked for
	Frontier    *goheap.Frontier       `json:"frontier"`
	Ballast     *float64               `json:"ballast_bytes"`        // with the headroom of the recommended setting, for Go before 1.19
	Pool        *threadpool.Prediction `json:"pool"`                 // of a pool of threads
	Young       *younggen.Prediction   `json:"young"`                // of a young generation
	HugePages   *hugepages.Prediction  `json:"huge_pages,omitempty"` // of transparent huge pages
	Basis       []string               `json:"basis"`                // what it rests on
	Source      *string                `json:"source"`               // the file
	Rows        []row                  `json:"rows"`
	Choice      *frontier              `json:"choice"` // what memory buys, point by point, where there is a knee
	Notes       []string               `json:"notes"`
}

type row struct {
	Asked   string   `json:"asked"` // the setting
	Effects []effect `json:"effects"`
	Facts   []fact   `json:"facts"`
}

type effect struct {
	Title string   `json:"title"`
	Unit  string   `json:"unit"`
	Now   estimate `json:"now"`
	Then  estimate `json:"then"`
}

type fact struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Caution bool   `json:"caution"`
}

type frontier struct {
	Title   string   `json:"title"`
	Columns []column `json:"columns"`
	Points  []chosen `json:"points"` // figures in the order of the columns
	Text    string   `json:"text"`
	Facts   []fact   `json:"facts"`
}

type column struct {
	Title string `json:"title"`
	Unit  string `json:"unit"`
}

type chosen struct {
	Text   string     `json:"text"`
	Mark   string     `json:"mark"` // "now", "knee", ""
	Values []estimate `json:"values"`
}

type list struct {
	Schema    string    `json:"schema"`
	Processes []process `json:"processes"` // most CPU use first
}

type process struct {
	PID        int        `json:"pid"`
	Name       string     `json:"name"`
	Main       *string    `json:"main"` // what its runtime started: a class, an assembly
	Runtime    string     `json:"runtime"`
	Version    *string    `json:"version"`
	Exe        *string    `json:"exe"`
	UID        int        `json:"uid"`
	User       string     `json:"user"`
	Container  *string    `json:"container"`
	Started    *time.Time `json:"started"`
	CPUCores   float64    `json:"cpu_cores"`
	RSSBytes   int64      `json:"rss_bytes"`
	Listens    []string   `json:"listens"`
	Reads      []string   `json:"reads"`      // what can be recorded of it
	Unreadable []string   `json:"unreadable"` // what cannot
	Needs      *string    `json:"needs"`      // what would change that
	Next       string     `json:"next"`       // the command that diagnoses it
}

type manifest struct {
	Schema       string    `json:"schema"`
	Tool         string    `json:"tool"`
	Host         string    `json:"host"`
	Target       string    `json:"target"` // what the user typed
	Start        time.Time `json:"start"`
	Command      []string  `json:"command"`
	ExpectedRate float64   `json:"expected_rate,omitempty"` // requests/s that were agreed on
}

package eventpipe

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const corpusDir = "../../../../../shared/corpus/nettrace"

func corpusFiles(t testing.TB) (names []string) {
	files, _ := filepath.Glob(corpusDir + "/*.nettrace.gz")
	if len(files) == 0 {
		t.Skipf("%s is not here: recorded streams are not decoded", corpusDir)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return names
}

func corpus(t testing.TB, name string) []byte {
	f, err := os.Open(filepath.Join(corpusDir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRecorded reads streams of the runtimes .NET Core 3.0 to .NET 10: everything is
// understood, nothing lost, and the order is that of a sort of the whole stream.
func TestRecorded(t *testing.T) {
	unsorted := 0
	for _, name := range corpusFiles(t) {
		t.Run(name, func(t *testing.T) {
			data := corpus(t, name)
			type event struct{ time, n int64 }
			read := func(inFileOrder bool) (events []event) {
				r := open(t, data)
				if inFileOrder {
					r.FileOrder()
				}
				for {
					e, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					events = append(events, event{e.Time, e.N})
				}
				want := Unknown{}
				if inFileOrder {
					want.OutOfOrder = r.Unknown().OutOfOrder
				}
				if r.Unknown() != want || r.Lost() != 0 {
					t.Errorf("unknown %+v, lost %d", r.Unknown(), r.Lost())
				}
				return events
			}
			sorted, asWritten := read(false), read(true)
			if !slices.IsSortedFunc(asWritten, func(a, b event) int { return int(a.time - b.time) }) {
				unsorted++
			}
			slices.SortStableFunc(asWritten, func(a, b event) int { return int(a.time - b.time) })
			if !slices.Equal(sorted, asWritten) {
				t.Error("not in order")
			}
		})
	}
	if unsorted < 5 {
		t.Errorf("only %d streams are out of order as they are: this proves little", unsorted)
	}
}

// ids are the names that the runtime's manifest gives the events of EXPECTED.json.
var ids = map[string][]int32{
	"Thread/Sample": {0}, "AppDomainResourceManagement/ThreadCreated": {85}, "Contention/Start": {81}, "Contention/Stop": {91},
	"GC": {200, 201}, "GC/AllocationTick": {10}, "GC/BulkMovedObjectRanges": {22}, "GC/FinalizersStart": {14}, "GC/FinalizersStop": {13},
	"GC/GenerationRange": {23}, "GC/GlobalHeapHistory": {205}, "GC/HeapStats": {4}, "GC/MarkWithType": {202}, "GC/PerHeapHistory": {204},
	"GC/PinObjectAtGCTime": {33}, "GC/PinPlugAtGCTime": {199}, "GC/RestartEEStart": {7}, "GC/RestartEEStop": {3}, "GC/Start": {1}, "GC/Stop": {2},
	"GC/SuspendEEStart": {9}, "GC/SuspendEEStop": {8}, "GC/Triggered": {35}, "Loader/AssemblyLoad": {154}, "Loader/DomainModuleLoad": {151},
	"Loader/ModuleLoad": {152}, "Method/JittingStarted": {145}, "Method/LoadVerbose": {143}, "Method/R2RGetEntryPoint": {159},
	"ThreadPool/Dequeue": {62}, "ThreadPool/Enqueue": {61}, "ThreadPoolWorkerThread/Start": {50}, "ThreadPoolWorkerThread/Wait": {57},
	"ThreadPoolWorkerThreadAdjustment/Adjustment": {55}, "ThreadPoolWorkerThreadAdjustment/Sample": {54}, "ThreadPoolWorkerThreadAdjustment/Stats": {56},
}

func TestCounts(t *testing.T) {
	corpusFiles(t)
	text, err := os.ReadFile(filepath.Join(corpusDir, "EXPECTED.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		PID          int              `json:"pid"`
		PointerBytes int              `json:"pointer_bytes"`
		Processors   int              `json:"processors"`
		Counts       map[string]int64 `json:"event_counts"`
		Samples      int64            `json:"thread_samples"`
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, want := range expected {
		r := open(t, corpus(t, name))
		counts := map[string]int64{}
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			counts[fmt.Sprint(e.Meta.Provider, "/", e.Meta.ID)]++
		}
		if h := r.Header(); want.PID != 0 && (h.PID != want.PID || h.PointerBytes != want.PointerBytes || h.Processors != want.Processors) {
			t.Errorf("%s: %+v", name, h)
		}
		if want.Samples != 0 {
			want.Counts = map[string]int64{"Microsoft-DotNETCore-SampleProfiler/Thread/Sample": want.Samples}
		}
		for event, n := range want.Counts {
			provider, event, _ := bytes.Cut([]byte(event), []byte("/"))
			got := int64(0)
			for _, id := range ids[string(event)] {
				got += counts[fmt.Sprintf("%s/%d", provider, id)]
			}
			if got != n {
				t.Errorf("%s: %d %s of %s, expected %d", name, got, event, provider, n)
			}
			checked++
		}
	}
	if checked < 37 {
		t.Errorf("only %d kinds of events were counted", checked)
	}
}

// TestCounters decodes what EventSources say of themselves.
func TestCounters(t *testing.T) {
	corpusFiles(t)
	r := open(t, corpus(t, "starve10.nettrace.gz"))
	seen := map[string]float64{}
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Meta.Name != "EventCounters" {
			continue
		}
		values, err := r.Decode(e.Meta, e.Payload())
		if err != nil {
			t.Fatal(err, values)
		}
		name, ok := values.Get("Payload", "Name")
		if !ok {
			t.Fatal(values)
		}
		for _, field := range []string{"Mean", "Increment"} {
			if v, ok := values.Get("Payload", field); ok {
				seen[name.Text] = max(seen[name.Text], v.Number())
			}
		}
	}
	if n := seen["threadpool-thread-count"]; n < 10 || len(seen) < 19 {
		t.Error(seen)
	}
}

package compare

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/loadresult"
)

// Reader makes evidence of files. It returns nil, after it has reported why, if none of them could be read.
type Reader func(names []string) *evidence.Bundle

// Read measures the runs that a name stands for. A capture, a load result, a diagnosis as JSON or
// another file with evidence is one run. A directory of captures, load results and diagnoses has a
// run for each of them, and a directory of directories a run for each of these; any other
// directory is the evidence of one run.
func Read(name string, read Reader, opt MeasureOptions) ([]Run, error) {
	fi, err := os.Stat(name)
	if err != nil || !fi.IsDir() { // the reader words what is wrong with it
		return readFileRuns(name, read, opt)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var files, dirs, others []string
	each := true
	for _, e := range entries { // sorted by name
		path := filepath.Join(name, e.Name())
		fi, err := os.Stat(path)
		switch {
		case err != nil || strings.HasPrefix(e.Name(), "."):
		case fi.IsDir():
			dirs = append(dirs, path)
		case !fi.Mode().IsRegular():
		case !evidenceIn(path):
			others = append(others, e.Name())
		default:
			files = append(files, path)
			each = each && isWholeRun(path)
		}
	}
	switch {
	case len(files) == 0 && len(dirs) > 0:
		files = dirs
	case len(files) == 0 && len(others) > 0:
		return nil, fmt.Errorf("%s: no file in this directory (of %d) has a known format", name, len(others))
	case len(files) == 0:
		return nil, fmt.Errorf("%s: this directory has no files", name)
	case !each:
		return addSkippedWarning(measureFiles(name, files, read, opt), others), nil
	}
	var runs []Run
	for _, f := range files {
		more, err := readFileRuns(f, read, opt)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return addSkippedWarning(runs, others), nil
}

// evidenceIn says whether Read can read a file.
func evidenceIn(path string) bool {
	return isWholeRun(path) || incident.Known(format.File(path))
}

// mostLeftOut is how many unreadable files a warning names.
const mostLeftOut = 3

// addSkippedWarning adds to the first run a warning, headed by the run's name, about the files of its directory that have no known format.
func addSkippedWarning(runs []Run, others []string) []Run {
	if len(runs) == 0 || len(others) == 0 {
		return runs
	}
	names := strings.Join(others[:min(mostLeftOut, len(others))], ", ")
	if more := len(others) - mostLeftOut; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	runs[0].Warnings = append(runs[0].Warnings, "skipped: unknown format: "+names)
	return runs
}

// measureFiles measures the run whose evidence the files are; nil if no file could be read.
func measureFiles(name string, files []string, read Reader, opt MeasureOptions) []Run {
	b := read(files)
	if b == nil {
		return nil
	}
	return Measure(b, name, opt)
}

func readFileRuns(name string, read Reader, opt MeasureOptions) ([]Run, error) {
	if head, err := readHead(name); err == nil && IsDiagnosis(head) {
		f, err := format.File(name).Reader()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer f.Close()
		r, err := ReadDiagnosis(f, name)
		return []Run{r}, err
	}
	return measureFiles(name, []string{name}, read, opt), nil
}

// isWholeRun says whether a file alone is a run: a capture, a diagnosis as JSON or a load result.
func isWholeRun(name string) bool {
	head, err := readHead(name)
	return err == nil && (capture.Is(head) || IsDiagnosis(head) || loadresult.Format.Match(head) == format.Sure)
}

// readHead reads the first bytes of a regular file, decompressed.
func readHead(name string) ([]byte, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a file", name)
	}
	r, err := format.File(name).Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, format.HeadSize)
	n, err := io.ReadFull(r, head)
	if n == 0 {
		return nil, err
	}
	return head[:n], nil
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/dev/thresholds/meter"
)

// recording is a recording with its known answer and what was compared in it.
type recording struct {
	name string
	// sick are the causes of which one is the answer; none: it is healthy.
	sick []string
	// untold says whether the answer leaves open if a cause is there.
	untold func(cause string) bool
	lines  []meter.Line
}

// judge runs the instrumented binary, which writes down what it compares with thresholds.
type judge struct {
	binary, work string
}

// run runs a command and returns its output and what each of its processes compared.
func (j *judge) run(ctx context.Context, name string, args ...string) (out []byte, files []compared, err error) {
	dir, err := os.MkdirTemp(j.work, "compared-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), meter.Env+"="+dir), &said
	out, err = cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && len(out) > 0) { // its exit code tells findings and unreadable files
		return nil, nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	files, err = readCompared(dir)
	return out, files, err
}

// compared is what one process compared.
type compared struct {
	args  []string
	lines []meter.Line
}

func readCompared(dir string) (all []compared, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 16<<20)
		var x compared
		for first := true; lines.Scan(); first = false {
			if first {
				var h meter.Head
				if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
					return nil, err
				}
				x.args = h.Args
				continue
			}
			var l meter.Line
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				return nil, err
			}
			x.lines = append(x.lines, l)
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// diagnose diagnoses files.
func (j *judge) diagnose(ctx context.Context, r *recording, files []string) error {
	_, compared, err := j.run(ctx, j.binary, append(append([]string{"diagnose"}, files...), "--format", "json")...)
	for _, x := range compared {
		r.lines = append(r.lines, x.lines...)
	}
	return err
}

// judgeFixtures judges the recordings of causes. The folder of a recording names its cause; other causes may be there too.
func (j *judge) judgeFixtures(ctx context.Context, dir string) (all []*recording, err error) {
	folders, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		r := &recording{name: folder, untold: func(string) bool { return false }}
		if strings.HasPrefix(filepath.Base(folder), "sick") {
			r.sick = []string{filepath.Base(filepath.Dir(folder))}
			r.untold = r.isSupported
		}
		files, err := filesIn(folder, "truth.json")
		if err != nil {
			return nil, err
		}
		if err := j.diagnose(ctx, r, files); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	logLine("%d fixtures", len(all))
	return all, nil
}

func (r *recording) isSupported(cause string) bool {
	return slices.ContainsFunc(r.lines, func(l meter.Line) bool { return l.Cause == cause && l.Supported })
}

// chooseAnswer keeps of several right answers those that were found, or the first if none was found. Whether the others are there
// is then unknown.
func (r *recording) chooseAnswer() {
	if len(r.sick) < 2 {
		return
	}
	right, untold := r.sick, r.untold
	r.sick = slices.DeleteFunc(slices.Clone(right), func(cause string) bool { return !r.isSupported(cause) })
	if len(r.sick) == 0 {
		r.sick = right[:1]
	}
	r.untold = func(cause string) bool { return slices.Contains(right, cause) || untold(cause) }
}

func filesIn(dir, but string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != but {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, err
}

// judgeCases judges files that people posted. A case lists right causes and wrong ones; whether others are there is unknown.
func (j *judge) judgeCases(ctx context.Context, dir string) (all []*recording, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "case.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var x struct {
			Expect struct {
				Right []string `json:"supported_any_of"`
				Wrong []string `json:"not"`
			} `json:"expect"`
		}
		if err := json.Unmarshal(text, &x); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r := &recording{name: filepath.Dir(name), sick: x.Expect.Right}
		r.untold = func(cause string) bool { return !slices.Contains(x.Expect.Wrong, cause) }
		files, err := filesIn(filepath.Dir(name), "case.json")
		if err != nil {
			return nil, err
		}
		if err := j.diagnose(ctx, r, files); err != nil {
			logLine("%v", err) // not every case can be read
			continue
		}
		r.chooseAnswer()
		all = append(all, r)
	}
	logLine("%d cases", len(all))
	return all, nil
}

// judgeKept lets dev/accuracy judge the recordings that it kept, by today's known answers.
func (j *judge) judgeKept(ctx context.Context, dir string) (all []*recording, err error) {
	lab, err := answersOf(dir)
	if err != nil {
		return nil, err
	}
	out, files, err := j.run(ctx, "go", "run", "./dev/accuracy", "-again", dir, "-dir", lab, "-unstall", j.binary, "-format", "json")
	if err != nil {
		return nil, err
	}
	var result struct {
		Cases []struct {
			Service  string   `json:"service"`
			Run      int      `json:"run"`
			Expected []string `json:"expected"`
			Also     []string `json:"also"`
			Busy     int      `json:"busy_programs"`
			Error    string   `json:"error"`
			Skipped  string   `json:"skipped"`
		} `json:"services"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		return nil, fmt.Errorf("dev/accuracy: %w", err)
	}
	for _, c := range result.Cases {
		if c.Error != "" || c.Skipped != "" {
			continue
		}
		r := &recording{name: fileStem(c.Service, c.Run), sick: c.Expected}
		r.untold = func(cause string) bool {
			return slices.Contains(c.Also, cause) || c.Busy > 0 && (cause == "linux.noisy-neighbour" || cause == "linux.cpu-saturation")
		}
		for _, x := range files {
			if slices.ContainsFunc(x.args, func(arg string) bool {
				return arg == filepath.Join(dir, r.name+".unstall") || filepath.Dir(arg) == filepath.Join(dir, r.name+".files")
			}) {
				r.lines = append(r.lines, x.lines...)
			}
		}
		if len(r.lines) == 0 {
			return nil, fmt.Errorf("%s: nothing was compared in %s", dir, r.name)
		}
		r.chooseAnswer()
		all = append(all, r)
	}
	logLine("%s: %d recordings", dir, len(all))
	return all, nil
}

// fileStem is how dev/accuracy names the files of a service's run.
func fileStem(service string, run int) string {
	name := strings.ReplaceAll(service, "/", "-")
	if run > 1 {
		name += "-" + strconv.Itoa(run)
	}
	return name
}

// answersOf returns the folder of the services that the captures in a folder were made of.
func answersOf(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		var k struct {
			Service string `json:"service"`
		}
		if json.Unmarshal(text, &k) != nil || k.Service == "" {
			continue
		}
		folder, _, _ := strings.Cut(k.Service, "/")
		for _, lab := range []string{"lab/stacks", "lab/accuracy"} {
			if _, err := os.Stat(filepath.Join(lab, folder)); err == nil {
				return lab, nil
			}
		}
	}
	return "", fmt.Errorf("%s: no capture is of a service of lab/accuracy or lab/stacks", dir)
}

func logLine(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

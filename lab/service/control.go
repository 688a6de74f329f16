package service

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strings"
)

// serveCommands executes lines of the form
//
//	trace PATH | trace-end        execution trace
//	cpu PATH | cpu-end            CPU profile
//	profile NAME PATH             goroutine, mutex, block, heap, allocs …
//	state                         nothing but the state
//	NAME ARGUMENT                 what the program gave [Service.Command]
//
// and answers each with its [State] as one line of JSON: after a start, before
// an end, so that the difference of two answers is inside the recording.
func (s *Service) serveCommands(in io.Reader, out *json.Encoder) error {
	var tracing, profiling *os.File
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var err error
		word := strings.Fields(lines.Text())
		if len(word) == 0 {
			continue
		}
		var state State
		ended := strings.HasSuffix(word[0], "-end")
		if ended {
			state = s.currentState()
		}
		switch {
		case word[0] == "trace" && len(word) == 2:
			if tracing, err = os.Create(word[1]); err == nil {
				err = trace.Start(tracing)
			}
		case word[0] == "trace-end":
			trace.Stop()
			err = tracing.Close()
		case word[0] == "cpu" && len(word) == 2:
			if profiling, err = os.Create(word[1]); err == nil {
				err = pprof.StartCPUProfile(profiling)
			}
		case word[0] == "cpu-end":
			pprof.StopCPUProfile()
			err = profiling.Close()
		case word[0] == "profile" && len(word) == 3:
			err = writeProfile(word[1], word[2])
		case word[0] == "state":
		case s.own[word[0]] != nil && len(word) == 2:
			err = s.own[word[0]](word[1])
		default:
			err = fmt.Errorf("%q is no command", lines.Text())
		}
		if !ended {
			state = s.currentState()
		}
		if err != nil {
			state.Error = err.Error()
		}
		if err := out.Encode(state); err != nil {
			return err
		}
	}
	return lines.Err()
}

func writeProfile(name, path string) error {
	p := pprof.Lookup(name)
	if p == nil {
		return fmt.Errorf("profile %q does not exist", name)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := p.WriteTo(f, 0); err != nil {
		return err
	}
	return f.Close()
}

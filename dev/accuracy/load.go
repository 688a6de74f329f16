package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/lab/process"
)

// sender is a running load.
type sender struct {
	*process.Program
	result, rows string // files
}

// startLoad starts the n-th load of the service for as long as given.
func (st *stage) startLoad(n int, d demand, lasts time.Duration, warm bool, seed int) (*sender, error) {
	name := fmt.Sprintf("load-%d", n+1)
	if warm {
		name += "-warm"
	}
	x := &sender{result: filepath.Join(st.dir, name+".json"), rows: filepath.Join(st.dir, name+".requests.txt")}
	args := d.loadArgs(st.addresses[d.To], lasts, warm, seed)
	args = append(args, "--format", "json", "-o", x.result)
	if st.takesRows() && !warm {
		args = append(args, "--rows", x.rows)
	}
	p, err := process.Launch(process.Spec{Bin: st.binary, Args: args, Env: os.Environ(), Log: filepath.Join(st.dir, name+".log")})
	if err != nil {
		return nil, err
	}
	x.Program, p.Name = p, name
	return x, nil
}

// loadArgs returns the arguments of unstall load. A load that rises or has a spike is warmed up at
// its initial rate.
func (d demand) loadArgs(address string, lasts time.Duration, warm bool, seed int) []string {
	args := []string{"load", "http://" + address + d.Paths[0], "-d", lasts.String(), "--seed", strconv.Itoa(seed)}
	if len(d.Paths) > 1 {
		for _, path := range d.Paths {
			args = append(args, "--path", path)
		}
	}
	rate, ramp := d.Rate, d.Ramp
	if warm && ramp != "" {
		first, _, _ := strings.Cut(ramp, ":")
		rate, _ = strconv.ParseFloat(first, 64) // unstall load reports a wrong rate
		ramp = ""
	}
	add := func(is bool, words ...string) {
		if is {
			args = append(args, words...)
		}
	}
	add(rate > 0, "-r", strconv.FormatFloat(rate, 'g', -1, 64))
	add(d.Poisson, "--poisson")
	add(d.Connections > 0, "-c", strconv.Itoa(d.Connections))
	add(d.Method != "", "-X", d.Method)
	add(d.Body != "", "--body", d.Body)
	add(ramp != "", "--ramp", ramp)
	add(d.Spike != "" && !warm, "--spike", d.Spike)
	add(d.Timeout.Duration > 0, "--timeout", d.Timeout.String())
	for _, h := range d.Headers {
		args = append(args, "-H", h)
	}
	return args
}

// readResult reads the result of a load. It is an error if no request got a response.
func (x *sender) readResult() (r load.Result, err error) {
	text, err := os.ReadFile(x.result)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("%s: no result: %w", x.Name, errors.Join(err, x.Failed()))
	case r.Completed == 0:
		return r, fmt.Errorf("%s: none of %d requests was answered", x.Name, r.Sent)
	}
	return r, nil
}

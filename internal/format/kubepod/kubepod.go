// Package kubepod reads the containers of a pod from kubectl describe pod: their limits, how often they were restarted, and
// why they last ended (https://kubernetes.io/docs/reference/kubectl/generated/kubectl_describe/, kubectl 1.10 to 1.34).
//
//	Last State:     Terminated
//	  Reason:       OOMKilled
//	  Exit Code:    137
//	Restart Count:  41
//	Limits:
//	  cpu:     500m
//	  memory:  512Mi
//
// and the failed probes in its events, or in those of kubectl get events (events.go).
//
// It shows settings and ends, and nothing about the latency of requests. The environment, volumes and annotations are not read.
package kubepod

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a description.
var Format = format.Format{
	Name:  "kubepod",
	About: "kubectl describe pod: limits of its containers, restarts, why they ended, and probes that failed, also of kubectl get events",
	Match: matchHead,
	Parse: parseArtifact,
}

// mostContainers bounds the number of containers.
const mostContainers = 200

// mostLine is how much of a line is looked at.
const mostLine = 512

func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, []byte("Unhealthy")) {
		for l := range bytes.Lines(head) {
			if _, ok := parseProbe(string(l[:min(len(l), mostLine)])); ok {
				return format.Sure
			}
		}
	}
	if !bytes.Contains(head, []byte("State:")) || !bytes.Contains(head, []byte("Restart Count:")) && !bytes.Contains(head, []byte("Exit Code:")) {
		return format.No
	}
	count, state := false, false
	for l := range bytes.Lines(head) {
		key, value, ok := bytes.Cut(bytes.TrimSpace(l), []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case !ok || len(value) == 0:
		case string(key) == "Restart Count" || string(key) == "Exit Code":
			_, err := strconv.ParseUint(string(value), 10, 32)
			count = count || err == nil
		case string(key) == "State" || string(key) == "Last State":
			state = state || states[string(value)]
		}
	}
	return format.SureIf(count && state)
}

var states = map[string]bool{"Running": true, "Terminated": true, "Waiting": true}

type container struct {
	name, reason string // of the last end
	code         float64
	coded        bool
	restarts     float64
	counted      bool
	cpu, memory  string // limits
	line         int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var all []*container
	var c *container
	pod, before, section, last := "", "", "", false
	var failed probes
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		text := strings.TrimRight(string(l.Text[:min(len(l.Text), mostLine)]), " \t")
		if failed.addRow(text, l.Number) {
			before = ""
			return true
		}
		trimmed := strings.TrimSpace(text)
		key, value, ok := strings.Cut(trimmed, ":")
		value = strings.TrimSpace(value)
		if !ok {
			before = ""
			return true
		}
		if c == nil && key == "Name" && pod == "" && value != "" {
			pod = value
		}
		begin := func() { // a container's name stands above its first field
			if len(all) == mostContainers {
				c = &container{}
				return
			}
			c = &container{name: before, line: l.Number}
			all = append(all, c)
		}
		switch key {
		case "Container ID", "Image":
			if key == "Container ID" || before != "" || c == nil {
				begin()
				section, last = "", false
			}
		case "State":
			if c == nil {
				begin()
			}
			section, last = "state", false
		case "Last State":
			if c == nil { // a part of a description
				begin()
			}
			section, last = "state", true
		case "Reason":
			if c != nil && section == "state" && (last || value == "OOMKilled" && c.reason == "") {
				c.reason = value
			}
		case "Exit Code":
			if v, err := strconv.ParseFloat(value, 64); err == nil && c != nil && section == "state" && v >= 0 && v < 256 && (last || !c.coded) {
				c.code, c.coded = v, true
			}
		case "Restart Count":
			if v, err := strconv.ParseFloat(value, 64); err == nil && c != nil && v >= 0 && v < 1e9 {
				c.restarts, c.counted = v, true
			}
			section = ""
		case "Limits":
			section = "limits"
		case "Requests", "Environment", "Mounts", "Liveness", "Readiness", "Conditions", "Events":
			section = ""
		case "cpu":
			if c != nil && section == "limits" {
				c.cpu = value
			}
		case "memory":
			if c != nil && section == "limits" {
				c.memory = value
			}
		}
		before = ""
		if value == "" && strings.HasSuffix(trimmed, ":") && len(key) <= 253 && strings.IndexByte(key, ' ') < 0 {
			before = key
		}
		return true
	})
	some := len(failed.rows) > 0
	for _, c := range all {
		some = some || c.counted || c.coded && c.reason != ""
	}
	if err := format.EndReading(ctx, b, err, some, "the description", "kubepod: no container with its count of restarts, or why it ended, in it, nor a probe that failed"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	t := evidence.Table{Title: "containers of the pod", Columns: []string{"", "restarts", "ended the last time", "CPU limit", "memory limit"}}
	for _, c := range all {
		if !c.counted {
			continue
		}
		emitContainer(b, c, pod)
		end := c.reason
		if c.coded {
			end = strings.TrimSpace(fmt.Sprintf("%s %.0f", end, c.code))
		}
		t.Rows = append(t.Rows, []string{c.name, strconv.FormatFloat(c.restarts, 'f', 0, 64), end, c.cpu, c.memory})
	}
	if len(t.Rows) > 0 || len(failed.rows) == 0 {
		b.Table(t)
	}
	failed.emit(b)
	return nil
}

func emitContainer(b *evidence.Builder, c *container, pod string) {
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Name: c.name})
	fact := func(key, value string, v float64) {
		b.FactAt(subject, key, value, v, c.line)
	}
	if pod != "" {
		fact(evidence.FactPod, pod, 0)
	}
	fact(evidence.FactRestarts, strconv.FormatFloat(c.restarts, 'f', 0, 64), c.restarts)
	if c.reason != "" {
		fact(evidence.FactLastExit, c.reason, c.code)
	}
	if v, ok := parseQuantity(c.cpu); ok {
		fact(evidence.FactContainerCPU, fmt.Sprintf("%.4g CPUs", v), v)
	}
	if v, ok := parseQuantity(c.memory); ok {
		fact(evidence.FactContainerLimit, c.memory, v)
	}
	switch {
	case c.reason == "OOMKilled" || c.coded && c.code == 137:
		b.Warnf(c.line, "the kernel killed %s for its memory limit%s: whatever it served then failed or was slow after the start; memory.events and memory.current show how it fills", cmp.Or(c.name, "a container"), formatLimit(c.memory))
	case c.restarts >= 3:
		b.Warnf(c.line, "%s was started %.0f times again: its own log shows why (kubectl logs --previous)", cmp.Or(c.name, "a container"), c.restarts)
	}
	if v, ok := parseQuantity(c.cpu); ok && v < 1 {
		b.Warnf(c.line, "its CPU limit is %s: all its threads stop once %.0f ms of each 100 ms are used up; cat /sys/fs/cgroup/cpu.stat twice, 30 s apart, shows how often", c.cpu, 100*v)
	}
}

func formatLimit(memory string) string {
	if memory == "" {
		return ""
	}
	return " of " + memory
}

// parseQuantity reads "500m", "2", "512Mi" and "1G" (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/).
func parseQuantity(s string) (float64, bool) {
	for _, x := range []struct {
		suffix string
		unit   float64
	}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"", 1}} {
		if number, ok := strings.CutSuffix(s, x.suffix); ok {
			v, err := strconv.ParseFloat(number, 64)
			if err == nil && v > 0 && v*x.unit < 1e18 {
				return v * x.unit, true
			}
			if x.suffix != "" && err == nil {
				return 0, false
			}
		}
	}
	return 0, false
}

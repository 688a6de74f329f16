package metricspage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/gauges"
)

// Actuator reads metrics as Spring Boot's actuator answers at /actuator/metrics/NAME, one or several in sequence
// (https://docs.spring.io/spring-boot/api/rest/actuator/metrics.html):
//
//	{"name":"hikaricp.connections.pending","measurements":[{"statistic":"VALUE","value":41.0}],"availableTags":[{"tag":"pool","values":["db"]}]}
//
// It is like a page of Micrometer with one metric, summed over all its tags.
var Actuator = format.Format{
	Name:  "actuator-metrics",
	About: "metrics of Spring Boot's actuator (JSON)",
	Whole: true,
	Joins: true,
	Match: func(head []byte) format.Confidence {
		text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
		return format.SureIf(len(text) > 0 && text[0] == '{' && bytes.Contains(text, []byte(`"measurements"`)) && bytes.Contains(text, []byte(`"statistic"`)) && bytes.Contains(text, []byte(`"name"`)))
	},
	Parse: parseActuator,
}

// maxAnswers bounds how many bytes of such answers are read.
const maxAnswers = 4 << 20

// inSeconds are Micrometer's units of time, the base unit of a timer: the registry that answers chooses it
// (https://github.com/micrometer-metrics/micrometer/blob/main/micrometer-core/src/main/java/io/micrometer/core/instrument/util/TimeUtils.java).
var inSeconds = map[string]float64{"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}

// ofTimer are the ends of a name on a page by the statistic of a timer or a summary.
var ofTimer = map[string]string{"COUNT": "_count", "TOTAL_TIME": "_sum", "TOTAL": "_sum", "MAX": "_max"}

func parseActuator(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	r, err := a.Unwrapped()
	if err != nil {
		return err
	}
	defer r.Close()
	d := json.NewDecoder(io.LimitReader(r, maxAnswers))
	var lines []format.Line
	table := evidence.Table{Title: "metrics of the actuator", Columns: []string{"", "value"}}
	var broke error
	longest := 0. // pause of GC, s
	for len(lines) < 1000 && ctx.Err() == nil {
		var m struct {
			Name         string
			BaseUnit     string
			Measurements []struct {
				Statistic string
				Value     float64
			}
			AvailableTags []struct {
				Tag    string
				Values []string
			}
		}
		if broke = d.Decode(&m); broke != nil {
			break
		}
		labels := ""
		for _, t := range m.AvailableTags {
			if len(t.Values) == 1 && isName(strings.ReplaceAll(t.Tag+"__", ".", "_")) && !strings.ContainsAny(t.Values[0], "\"\\\n{}") && len(labels)+len(t.Values[0]) < 500 {
				labels += fmt.Sprintf("%s=%q,", strings.ReplaceAll(t.Tag, ".", "_"), t.Values[0])
			}
		}
		name := strings.NewReplacer(".", "_", "-", "_").Replace(m.Name)
		if !isName(name) {
			continue
		}
		unit := m.BaseUnit
		timer := false
		for _, x := range m.Measurements {
			timer = timer || x.Statistic == "TOTAL_TIME"
		}
		if unit != "" && unit != "seconds" && !timer && isName(name+"_"+unit) && !strings.HasSuffix(name, "_"+unit) {
			name += "_" + unit // Micrometer's name on a page
		}
		scale := 1.
		if timer {
			unit = cmp.Or(unit, "seconds") // as Spring Boot 2.0 has it
			scale = cmp.Or(inSeconds[unit], 1)
		}
		for _, x := range m.Measurements {
			full, v := name, x.Value
			if s := ofTimer[x.Statistic]; s != "" {
				if timer {
					full += "_seconds"
				}
				full += s
			}
			if x.Statistic != "COUNT" {
				v *= scale
			}
			if m.Name == "jvm.gc.pause" && x.Statistic == "MAX" {
				longest = max(longest, v)
			}
			lines = append(lines, format.Line{Text: []byte(fmt.Sprintf("%s{%s} %g", full, labels, v)), Number: 1})
			if len(table.Rows) < 60 {
				value := fmt.Sprintf("%.6g", x.Value)
				if x.Statistic != "COUNT" && unit != "" && len(unit) < 20 {
					value += " " + unit
				}
				table.Rows = append(table.Rows, []string{m.Name + " " + strings.ToLower(x.Statistic), value})
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(lines) == 0:
		return errors.New("actuator-metrics: no measurement in it")
	case broke != nil && broke != io.EOF:
		b.Cut()
		b.Warnf(0, "what follows the first answers is no metric, or breaks off")
	}
	b.Table(table)
	page := format.Rewritten(a, lines)
	var text []byte
	for _, l := range lines {
		text = append(append(text, l.Text...), '\n')
	}
	if gauges.Exposition.Match(text) == format.Sure {
		return gauges.Exposition.Parse(ctx, page, b)
	}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	*b.Clock() = evidence.Clock{Name: "one answer", Error: evidence.Unanchored}
	if most := longest; most > 0 && most < 1e6 {
		b.FactAt(subject, evidence.FactPauseMost, fmt.Sprintf("%.6g", most*1e9), most*1e9, 1)
	}
	return nil
}

package procfs

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// choices are facts of the host with the times when they held.
type choices struct {
	list []*choiceOf
	last map[string]*choiceOf
}

type choiceOf struct {
	key, value  string
	number      float64
	from, until int64 // of the first and the last reading of the value
	line        int64
}

// set changes the value of a setting from now on.
func (s *choices) set(p *parser, key, value string, number float64, line int64) {
	old := s.last[key]
	if old != nil && old.value == value {
		old.until = max(old.until, p.now)
		return
	}
	if old != nil && p.now < old.until || len(s.list) >= maxSettings {
		p.dropped++
		return
	}
	if s.last == nil {
		s.last = make(map[string]*choiceOf)
	}
	if old != nil {
		old.until = p.now
	}
	x := &choiceOf{key: key, value: value, number: number, from: p.now, until: p.now, line: line}
	s.list, s.last[key] = append(s.list, x), x
}

// emitFacts writes the settings of the host. A setting that did not change has no times: it always
// held.
func (s *choices) emitFacts(p *parser, host evidence.SubjectID) {
	times := make(map[string]int)
	for _, x := range s.list {
		times[x.key]++
	}
	for _, x := range s.list {
		f := evidence.Fact{Subject: host, Key: x.key, Value: x.value, Number: x.number, Origin: p.b.Origin(x.line)}
		if times[x.key] > 1 {
			f.From, f.Until = x.from, x.until
		}
		p.b.Fact(f)
	}
}

// oneValue reads a file that holds one value.
func (p *parser) oneValue(line []byte) bool {
	path, value := p.path, cleanText(bytes.TrimSpace(line), 256)
	p.reader = nil // the rest is not used
	if rest, ok := strings.CutPrefix(path, "/proc/sys/"); ok {
		key := strings.ReplaceAll(rest, "/", ".")
		if key == "kernel.osrelease" {
			key = evidence.FactKernel
		}
		p.settings.set(p, key, value, parseNumber(value), p.number)
		return true
	}
	if rest, ok := strings.CutPrefix(path, nodes); ok {
		if rest == "online" {
			n := countListed(value)
			p.settings.set(p, evidence.FactNUMANodes, strconv.Itoa(n), float64(n), p.number)
			return n > 0
		}
		p.ignored++
		return true
	}
	rest, _ := strings.CutPrefix(path, hugePages)
	if size, ok := strings.CutPrefix(rest, "hugepages-"); ok {
		if size, ok = strings.CutSuffix(size, "/enabled"); ok {
			p.addChoice(evidence.FactTHP+":"+size, value)
			return true
		}
	}
	switch rest {
	case "hpage_pmd_size":
		v := parseNumber(value)
		p.settings.set(p, evidence.FactHugePage, sizeOf(v), v, p.number)
		return v > 0
	case "enabled":
		p.addChoice(evidence.FactTHP, value)
	case "defrag":
		p.addChoice(evidence.FactTHPDefrag, value)
	case "shmem_enabled":
		p.addChoice(evidence.FactTHPShared, value)
	case "khugepaged/defrag":
		p.settings.set(p, evidence.FactTHPDaemonDefrag, value, parseNumber(value), p.number)
	case "khugepaged/max_ptes_none":
		p.settings.set(p, evidence.FactTHPDaemonEmpty, value, parseNumber(value), p.number)
	default:
		p.ignored++
	}
	return true
}

func (p *parser) addChoice(key, value string) {
	p.settings.set(p, key, selectBracketed(value), math.NaN(), p.number)
}

// selectBracketed returns the text in brackets in "always [madvise] never", else all of it.
func selectBracketed(value string) string {
	if _, rest, ok := strings.Cut(value, "["); ok {
		if in, _, ok := strings.Cut(rest, "]"); ok {
			return in
		}
	}
	return value
}

// countListed counts the numbers of a list of the kernel: "0-3,5" has 5.
func countListed(value string) (n int) {
	for _, x := range strings.Split(value, ",") {
		from, to, is := strings.Cut(x, "-")
		a, ok := format.ParseDigits([]byte(from))
		b := a
		if is && ok {
			b, ok = format.ParseDigits([]byte(to))
		}
		if !ok || b < a || b > 1<<20 {
			return 0
		}
		n += int(b - a + 1)
	}
	return n
}

func parseNumber(value string) float64 {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

func sizeOf(bytes float64) string { return fmt.Sprintf("%.0f MiB", bytes/(1<<20)) }

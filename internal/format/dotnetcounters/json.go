package dotnetcounters

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// event is a reading; the first version had names with spaces.
type event struct {
	Timestamp  string  `json:"timestamp"`
	Provider   string  `json:"provider"`
	Name       string  `json:"name"`
	Tags       string  `json:"tags"`
	MeterTags  string  `json:"meterTags"`
	Instrument string  `json:"instrumentTags"`
	Type       string  `json:"counterType"`
	OldType    string  `json:"counter type"`
	Value      float64 `json:"value"`
}

// maxObject is the greatest length of a reading, bytes.
const maxObject = 64 << 10

// parseJSON reads a document that is one line of any length, reading by reading, as each is flat.
// The file of a killed tool has no end.
func (p *parser) parseJSON(ctx context.Context, a *format.Artifact) error {
	r, err := a.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	s := &objects{r: bufio.NewReaderSize(r, 64<<10)}
	header, err := s.readUntil('[')
	if err != nil {
		return fmt.Errorf("%w: it has no events", format.ErrCut)
	}
	if i := strings.LastIndex(header, `"Events"`); i > 0 {
		var about struct {
			Process    string `json:"TargetProcess"`
			OldProcess string `json:"Target Process"`
		}
		if json.Unmarshal([]byte(strings.TrimRight(header[:i], ", \r\n\t")+"}"), &about) == nil {
			p.process = cmp.Or(about.Process, about.OldProcess)
		}
	}
	for {
		text, err := s.next()
		switch {
		case err == io.EOF && s.ended:
			return nil
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return fmt.Errorf("%w: it has no closing bracket", format.ErrCut)
		case err != nil:
			return fmt.Errorf("%w: %w", format.ErrCut, err)
		}
		if p.rows++; p.rows%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p.parseEvent(text)
	}
}

func (p *parser) parseEvent(text string) {
	var e event
	if json.Unmarshal([]byte(text), &e) != nil {
		// A decimal comma, or NaN, in the value makes the reading invalid JSON; the value comes last.
		i := strings.LastIndex(text, `"value":`)
		if i < 0 || json.Unmarshal([]byte(strings.TrimRight(text[:i], ", ")+"}"), &e) != nil {
			p.countUnparsed()
			return
		}
		v, ok := parseFigure(strings.Replace(strings.Trim(text[i+len(`"value":`):], " }"), ",", ".", 1))
		if !ok {
			p.countUnparsed()
			return
		}
		e.Value = v
	}
	if e.Type == "" {
		e.Type = e.OldType
	}
	if e.Provider == "" || e.Name == "" || e.Type != "Metric" && e.Type != "Rate" {
		p.countUnparsed()
		return
	}
	tags := e.Tags
	for _, more := range []string{e.MeterTags, e.Instrument} {
		if more != "" && tags != "" {
			tags += ","
		}
		tags += more
	}
	p.addRow(e.Timestamp, e.Provider, e.Name, tags, e.Type == "Rate", e.Value)
}

// objects cuts a stream into flat objects.
type objects struct {
	r     *bufio.Reader
	ended bool // the list's closing bracket was there
}

// readUntil reads up to the byte end outside of strings.
func (s *objects) readUntil(end byte) (string, error) {
	var text []byte
	inside, escaped := false, false
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return "", err
		}
		if len(text) == maxObject {
			return "", fmt.Errorf("a reading is longer than %d bytes", maxObject)
		}
		text = append(text, c)
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case !inside && c == end:
			return string(text), nil
		}
	}
}

// next returns the next object.
func (s *objects) next() (string, error) {
	for {
		c, err := s.r.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == ']':
			s.ended = true
			return "", io.EOF
		case c == '{':
			text, err := s.readUntil('}')
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return "{" + text, err
		}
	}
}

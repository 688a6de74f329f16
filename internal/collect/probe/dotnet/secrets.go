package dotnet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/unstall/unstall/internal/base/redact"
)

// secret is a text to find in a stream, and the part of it that must not be stored.
type secret struct {
	text     []byte // UTF-16, as in a stream
	from, to int    // byte range of the part in text
}

// tellsAlone is the length, in characters, from which a secret is searched for without the option before it. A shorter one would also be found
// in data that is not text.
const tellsAlone = 6

// readSecrets returns the parts of a process's command line that must not be stored. Each session writes the command line, joined by spaces.
func readSecrets(pid int) []secret {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return secretsOf(strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"))
}

func secretsOf(args []string) (out []secret) {
	for i, safe := range redact.Command(args) {
		from, to := redact.DiffRange(args[i], safe)
		if from == to {
			continue
		}
		before := args[i][:from]
		if i > 0 {
			before = args[i-1] + " " + before
		}
		head, body := utf16Bytes(before), utf16Bytes(args[i][from:to])
		out = append(out, secret{append(head, body...), len(head), len(head) + len(body)})
		if to-from >= tellsAlone {
			out = append(out, secret{body, 0, len(body)})
		}
	}
	return out
}

func utf16Bytes(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// masker writes a stream with secrets overwritten by as many asterisks, so that the layout stays. It holds back a possible beginning of a secret
// until more bytes come, or until Flush.
type masker struct {
	to      io.Writer
	secrets []secret
	held    []byte
}

func (m *masker) Write(p []byte) (int, error) {
	if len(m.secrets) == 0 {
		return m.to.Write(p)
	}
	m.held = append(m.held, p...)
	longest := 0
	for _, s := range m.secrets {
		longest = max(longest, len(s.text))
		for at := 0; ; {
			i := bytes.Index(m.held[at:], s.text)
			if i < 0 {
				break
			}
			at += i
			for k := at + s.from; k+1 < at+s.to; k += 2 {
				m.held[k], m.held[k+1] = '*', 0
			}
			at += len(s.text)
		}
	}
	done := len(m.held) - min(len(m.held), longest-1)
	if _, err := m.to.Write(m.held[:done]); err != nil {
		return 0, err
	}
	m.held = slices.Delete(m.held, 0, done)
	return len(p), nil
}

// Flush writes the bytes held back.
func (m *masker) Flush() error {
	held := m.held
	m.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := m.to.Write(held)
	return err
}

package capture

import (
	"archive/tar"
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// chunkSize is how much of an artifact is gathered before it is written, in bytes before compression. One line may
	// exceed it.
	chunkSize = 256 << 10

	// maxStored is the largest chunk that a reader accepts, in bytes: a chunk, a line, and the growth of incompressible
	// data.
	maxStored = 1 << 20

	block = 512 // bytes of a block of a tar stream
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksumHex(b []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(b, castagnoli)) }

// writeMember appends a whole tar member to a buffer, padded to the end of its last block. A nil
// comment leaves out the PAX record.
func writeMember(into *bytes.Buffer, name string, at time.Time, content []byte, comment []byte) error {
	h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(content)), ModTime: at.Truncate(time.Second)}
	if comment != nil {
		h.Format, h.ModTime = tar.FormatPAX, at
		h.PAXRecords = map[string]string{"comment": string(comment)}
	}
	t := tar.NewWriter(into)
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	if _, err := t.Write(content); err != nil {
		return err
	}
	return t.Flush()
}

// Is says whether a file begins as a capture does. It needs the first 263 bytes.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte(manifestName+"\x00")) && len(head) >= 263 && string(head[257:262]) == "ustar"
}

// Begins says whether a file is a cut-off capture, too short for [Is].
func Begins(head []byte) bool {
	return len(head) < 263 && bytes.HasPrefix(head, []byte(manifestName+"\x00"))
}

func chunkName(artifact string, seq int, raw bool) string {
	if raw {
		return fmt.Sprintf("%s/%06d", artifact, seq)
	}
	return fmt.Sprintf("%s/%06d.zst", artifact, seq)
}

// parseChunkName returns the artifact's name and the chunk's number; false for a member that is no chunk.
func parseChunkName(s string) (artifact string, seq int, ok bool) {
	artifact, leaf, ok := strings.Cut(s, "/")
	leaf = strings.TrimSuffix(leaf, ".zst")
	if !ok || artifact == "" || artifact == eventsName || len(leaf) < 6 || len(leaf) > 9 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(leaf, 10, 31)
	return artifact, int(n), err == nil && n > 0
}

// maxName is the longest name, in bytes, that leaves room for the chunk's number in a plain tar header.
const maxName = 80

// fileName makes a name that is one valid path element.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, s)
	for len(s) > maxName {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	if strings.Trim(s, ". ") == "" {
		return "artifact"
	}
	return s
}

// uniqueName adds a number to a name that exists already: access.log, access-2.log. Names that differ only in case count as
// equal, because some file systems do not distinguish them.
func uniqueName(name string, taken map[string]int) string {
	key := strings.ToLower(name)
	stem, extension := name, ""
	if i := strings.IndexByte(name, '.'); i > 0 {
		stem, extension = name[:i], name[i:]
	}
	free := name
	for taken[strings.ToLower(free)] > 0 {
		taken[key]++
		free = fmt.Sprintf("%s-%d%s", stem, taken[key], extension)
	}
	taken[strings.ToLower(free)]++
	return free
}

// isCompressed says whether data beginning with these bytes are compressed already, so that they are stored unchanged. If
// there are fewer bytes than a magic number has, these decide.
func isCompressed(head []byte) bool {
	for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd"} {
		if n := min(len(head), len(magic)); n > 0 && string(head[:n]) == magic[:n] {
			return true
		}
	}
	return false
}

// end is the end of a tar stream.
var end = make([]byte, 2*block)

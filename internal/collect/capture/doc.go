// Package capture reads and writes .unstall files. A capture holds the data recorded of a service, unchanged except for
// secrets, which are taken out (internal/base/redact/recorded), and a manifest that says what each artifact is.
//
// The file is a plain tar stream (POSIX.1-2001, pax). It can be examined without this program, and will stay readable
// when the program no longer exists:
//
//	unstall.json             schema unstall.capture/v1: tool, host, target, start, command
//	access.log/000001.zst    the first chunk of an artifact: one zstd frame
//	access.log/000002.zst
//	cpu-0001.pb.gz/000001    compressed already
//	events/000001.json       a warning, something that could not be seen, an artifact's end
//	events/000002.json       {"event":"end"}: the recording ended properly
//
//	tar xf gateway.unstall && zstd -dc access.log/*.zst
//
// Each chunk has a pax record "comment", which other programs ignore silently. It is a JSON object with the CRC-32C of the
// stored bytes and, in the first chunk of an artifact, a description of the artifact.
//
// The package's opinion: a recording that ends badly is the normal case, because it is made where something is wrong. So
// the file only grows, by one whole member with one write. A reader recognises and skips the remains of a kill or a full
// disk after the last whole member. Nothing has to be written at the end for the rest to be readable, unlike a database or a
// zip archive, whose index is at the end. The file is not synced to the disk: on a host whose disk stalls, that would stall
// the recorder, and the process is expected to die, not the kernel.
//
// A chunk is written when it has 256 KiB, else within 2 s, so a kill loses only data that came after that. Frames and
// checksums are per chunk, at the cost of some compression.
package capture

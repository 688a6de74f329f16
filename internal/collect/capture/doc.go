// Package capture is the .unstall file: what was recorded of a service, as it
// came but without its secrets (internal/base/redact/recorded), and a manifest that says what each artifact is.
//
// The file is a plain tar stream (POSIX.1-2001, pax), so that it can be looked
// into without this program and will be readable when nobody has it any more:
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
// Each chunk has a pax record "comment", which other programs pass over in
// silence: a JSON object with the CRC-32C of what is stored and, in the first
// chunk of an artifact, what the artifact is.
//
// The package's opinion: a recording that ends badly is the normal case, as it
// is made where something is wrong. So the file only grows, by one whole member
// with one write; what a kill or a full disk leaves behind a whole member is
// recognised and passed over; and nothing has to be written at the end for the
// rest to be readable. A database or a zip archive has its index at the end. The
// file is not synced to the disk: on a host whose disk stalls that would stall
// the recorder, and it is the process that is expected to die, not the kernel.
//
// A chunk is written when it has 256 KiB, else within 2 s, so a kill loses what
// came after that and nothing else. Frames and checksums are per chunk, at the
// cost of some compression.
package capture

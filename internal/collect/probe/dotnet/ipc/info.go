package ipc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

// Info is the runtime's description of itself. "" means that its version does not give it.
type Info struct {
	PID      int    // in the process's own PID namespace, which differs in a container
	OS       string // "Linux"
	Arch     string // "x64", "arm64"
	Assembly string // entry assembly: "DiagnosticScenarios"; .NET 6 on
	Version  string // of the runtime: "8.0.4", "10.0.0-preview.6.25358.103"; .NET 6 on
	RID      string // "linux_x64"; .NET 8 on
}

// processInfo are the forms of ProcessInfo, newest first.
var processInfo = []struct {
	command                   uint16
	versioned, more, portable bool
}{
	{0x0408, true, true, true},
	{0x0404, false, true, false},
	{0x0400, false, false, false},
}

// Info asks the runtime for its description. .NET Core 3.1 does not know the request; that is no error, and Info is zero.
func (c *Client) Info(ctx context.Context) (Info, error) {
	for _, form := range processInfo {
		p, err := c.runCommand(ctx, form.command, nil, patience)
		var code Code
		if errors.As(err, &code) && code.allowsOlderForm() {
			continue
		}
		if err != nil {
			return Info{}, err
		}
		var i Info
		d := decoder{b: p}
		if form.versioned {
			d.readUint32()
		}
		i.PID = int(d.readUint64())
		d.skip(16)   // the runtime's cookie, a GUID
		d.readText() // the command line
		i.OS, i.Arch = d.readText(), d.readText()
		if form.more {
			i.Assembly, i.Version = d.readText(), d.readText()
		}
		if form.portable {
			i.RID = d.readText()
		}
		if d.short {
			return Info{}, newProblem(c.pid, fmt.Sprintf("ProcessInfo %#04x of %d bytes is too short", form.command, len(p)), "try again", ErrProtocol)
		}
		return i, nil
	}
	return Info{}, nil
}

// decoder decodes the fields of an answer.
type decoder struct {
	b     []byte
	short bool
}

func (d *decoder) takeBytes(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.short, d.b = true, nil
		return make([]byte, 8)
	}
	taken := d.b[:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) skip(n int)         { d.takeBytes(n) }
func (d *decoder) readUint32() uint32 { return binary.LittleEndian.Uint32(d.takeBytes(4)) }
func (d *decoder) readUint64() uint64 { return binary.LittleEndian.Uint64(d.takeBytes(8)) }

// readText decodes a counted string of UTF-16 with a zero at its end.
func (d *decoder) readText() string {
	n := d.readUint32()
	if uint64(n)*2 > uint64(len(d.b)) {
		d.short = true
		return ""
	}
	raw := d.takeBytes(int(n) * 2)
	units := make([]uint16, 0, n)
	for i := 0; i+1 < len(raw); i += 2 {
		u := binary.LittleEndian.Uint16(raw[i:])
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

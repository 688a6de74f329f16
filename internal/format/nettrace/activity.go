package nettrace

import (
	"encoding/binary"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// Activity ids of event sources are paths: the id of what began within an activity
// begins with that activity's id (ActivityTracker.cs in dotnet/runtime). Twelve
// bytes hold the numbers of the path, in nibbles and bytes; the last four are the
// sum of the others, mixed with the process id since .NET Core 2.

// Codes of a nibble. Smaller ones are a number of the path.
const (
	pathEnd       = 0
	pathLargest   = 0xa // as a single nibble
	pathOverflow  = 0xb // before a number with bytes: the path was too long
	pathMultiByte = 0xc // 0xc to 0xf: 1 to 4 bytes follow
)

const pathBytes = 12

// pathSum is what the sum of the first three words is offset by.
const pathSum = 0x599D99AD

func pathMix(g eventpipe.GUID) uint32 {
	sum := uint32(pathSum)
	for i := 0; i < pathBytes; i += 4 {
		sum += binary.LittleEndian.Uint32(g[i:])
	}
	return sum ^ binary.LittleEndian.Uint32(g[pathBytes:])
}

// visitAncestors calls f with the ids of the activities around one, the nearest first,
// until f returns true. Ids that are no path of this process have none.
func visitAncestors(g eventpipe.GUID, pid int32, f func(eventpipe.GUID) bool) {
	mix := pathMix(g)
	if mix != 0 && mix != uint32(pid) {
		return
	}
	var starts [2 * pathBytes]int
	n := pathNumbers(g, &starts)
	for i := n - 1; i > 0; i-- {
		if f(pathPrefix(g, starts[i], mix)) {
			return
		}
	}
}

// pathPrefix returns the id of the activity whose path ends before a nibble.
func pathPrefix(g eventpipe.GUID, nibble int, mix uint32) (p eventpipe.GUID) {
	copy(p[:nibble/2], g[:])
	if nibble%2 == 1 {
		p[nibble/2] = g[nibble/2] & 0xf0
	}
	sum := uint32(pathSum)
	for i := 0; i < pathBytes; i += 4 {
		sum += binary.LittleEndian.Uint32(p[i:])
	}
	binary.LittleEndian.PutUint32(p[pathBytes:], sum^mix)
	return p
}

// pathNumbers finds the nibbles where the numbers of a path begin.
func pathNumbers(g eventpipe.GUID, starts *[2 * pathBytes]int) (n int) {
	nibble := func(i int) byte {
		if i%2 == 0 {
			return g[i/2] >> 4
		}
		return g[i/2] & 0xf
	}
	for at := 0; at < 2*pathBytes && n < len(starts); {
		code := nibble(at)
		if code == pathEnd {
			break
		}
		starts[n] = at
		n++
		if code <= pathLargest {
			at++
			continue
		}
		if code == pathOverflow {
			if at++; at == 2*pathBytes {
				break
			}
			if code = nibble(at); code < pathMultiByte {
				break
			}
		}
		// The number's bytes begin with the next whole byte; a nibble left over
		// before them is its highest bits.
		at = at/2*2 + 2 + 2*(int(code-pathMultiByte)+1)
	}
	return n
}

package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
)

// Kernel are the functions of the kernel.
type Kernel struct {
	table
}

// ErrHidden is returned where the kernel does not tell where its functions are.
var ErrHidden = errors.New("the kernel hides its addresses (kernel.kptr_restrict)")

// ReadKernel reads /proc/kallsyms, whose lines are "address type name [module]".
func ReadKernel() (*Kernel, error) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readKernel(f)
}

func readKernel(r io.Reader) (*Kernel, error) {
	const usual = 1 << 17 // functions; modules come behind the kernel's own
	k := &Kernel{table{starts: make([]uint64, 0, usual), ends: make([]uint64, 0, usual), names: make([]uint32, 0, usual), text: make([]byte, 0, 3<<20)}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), 64<<10)
	for lines.Scan() {
		b := lines.Bytes()
		address, rest, ok := bytes.Cut(b, []byte(" "))
		if !ok || len(rest) < 3 || rest[1] != ' ' {
			continue
		}
		switch rest[0] {
		case 't', 'T', 'w', 'W':
		default:
			continue // data
		}
		start, err := strconv.ParseUint(string(address), 16, 64)
		if err != nil || start == 0 {
			continue
		}
		name, _, _ := bytes.Cut(rest[2:], []byte("\t")) // the module
		k.addEntry(start, 0, string(name))
	}
	if len(k.starts) == 0 {
		return nil, errors.Join(ErrHidden, lines.Err())
	}
	k.sort()
	return k, lines.Err()
}

// Name is the function an address lies in, "" if none is known.
func (k *Kernel) Name(addr uint64) string {
	if k == nil {
		return ""
	}
	return k.functionAt(addr)
}

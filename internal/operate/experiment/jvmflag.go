package experiment

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// A manageable flag of a JVM may be changed while the JVM runs, by jcmd's VM.set_flag (JDK 9 and later). VM.flags
// -all lists these flags:
//
//	uintx MaxHeapFreeRatio  = 70   {manageable} {default}
var jvmFlag = &Setting{
	Name: jvmFamily, About: "a manageable flag of a JVM, such as SoftMaxHeapSize or MinHeapFreeRatio", Values: "a value of the flag: true, 70, 2g",
	Told: true, Settle: 2 * time.Second, Find: findFlag, Value: flagValue, Read: readFlag, Write: writeFlag,
}

const jvmFamily = "jvm."

// mostFlags bounds a JVM's list of all its flags, which has some 1,200 lines of 100 bytes.
const mostFlags = 1 << 20

// answering is how long a JVM may take to answer.
const answering = 5 * time.Second

func findFlag(ctx context.Context, t discover.Target, name string) (Place, error) {
	p := Place{Name: name, PID: t.PID, Affects: fmt.Sprintf("pid %d", t.PID)}
	start, err := attach.Started(t.PID)
	if err != nil {
		return p, err
	}
	p.Start = start
	f, err := flagOf(ctx, p)
	switch {
	case err != nil:
		return p, err
	case f.kind == "":
		return p, newUseError("pid %d does not have this flag: see jcmd %d VM.flags -all", t.PID, t.PID)
	case !f.manageable:
		return p, newUseError("pid %d cannot change this flag while it runs: jcmd %d VM.flags -all does not list it as manageable; restart it with -XX", t.PID, t.PID)
	}
	return p, nil
}

// flag is a line of VM.flags -all.
type flag struct {
	kind, value string // "" if the JVM has no flag of that name
	manageable  bool
}

func flagOf(ctx context.Context, p Place) (flag, error) {
	text, err := runJVMCommand(ctx, p, "VM.flags -all")
	if err != nil {
		return flag{}, err
	}
	return parseFlag(text, strings.TrimPrefix(p.Name, jvmFamily)), nil
}

func parseFlag(text, name string) flag {
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, "=")
		f := strings.Fields(strings.TrimSuffix(before, ":")) // ":=" marks a value other than the default, before JDK 9
		if !ok || len(f) != 2 || f[1] != name {
			continue
		}
		value, rest, _ := strings.Cut(after, "{")
		return flag{f[0], strings.TrimSpace(value), strings.Contains(rest, "manageable}")}
	}
	return flag{}
}

// runJVMCommand returns the answer of the JVM at a place to a command of jcmd; [ErrGone] if the
// JVM has ended.
func runJVMCommand(ctx context.Context, p Place, command string) (string, error) {
	if start, err := attach.Started(p.PID); err != nil || start != p.Start {
		return "", fmt.Errorf("pid %d: %w", p.PID, ErrGone)
	}
	vm, err := attach.Find(p.PID)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	text, err := vm.Text(ctx, command, mostFlags)
	if errors.Is(err, attach.ErrGone) {
		return "", fmt.Errorf("pid %d: %w", p.PID, ErrGone)
	}
	return text, err
}

func readFlag(ctx context.Context, p Place) (string, error) {
	f, err := flagOf(ctx, p)
	if err == nil && f.kind == "" {
		err = fmt.Errorf("pid %d does not report its value", p.PID)
	}
	return f.value, err
}

// units are the units of sizes that -XX takes; VM.set_flag needs bytes.
var units = map[byte]uint64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40}

func flagValue(ctx context.Context, p Place, typed string) (string, error) {
	f, err := flagOf(ctx, p)
	if err != nil {
		return "", err
	}
	wrong := newUseError("pid %d needs a value of type %s for it", p.PID, f.kind)
	switch f.kind {
	case "bool":
		if typed != "true" && typed != "false" {
			return "", wrong
		}
		return typed, nil
	case "int", "uint", "intx", "uintx", "size_t", "uint64_t":
		digits, unit := typed, uint64(1)
		if last := len(typed) - 1; last > 0 && units[typed[last]|0x20] > 0 {
			digits, unit = typed[:last], units[typed[last]|0x20]
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return "", wrong
		}
		return strconv.FormatUint(n*unit, 10), nil
	case "double":
		n, err := strconv.ParseFloat(typed, 64)
		if err != nil {
			return "", wrong
		}
		return strconv.FormatFloat(n, 'f', 6, 64), nil
	}
	return "", newUseError("a flag of type %s does not change how pid %d runs: nothing to try", f.kind, p.PID)
}

func writeFlag(ctx context.Context, p Place, value string) error {
	_, err := runJVMCommand(ctx, p, "VM.set_flag "+strings.TrimPrefix(p.Name, jvmFamily)+" "+value)
	return err
}

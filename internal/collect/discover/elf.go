package discover

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// managedCode is the section for code from .NET's ahead-of-time compiler (NativeAOT): ManagedCodeUnixContentSection in
// https://github.com/dotnet/runtime/blob/main/src/coreclr/tools/Common/Compiler/DependencyAnalysis/ObjectNodeSection.cs
const managedCode = "__managedcode"

// Managed says whether a process runs code from .NET's ahead-of-time compiler. It returns false if the executable cannot be read.
func Managed(pid int) bool {
	f, err := elf.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(managedCode) != nil
}

// readExecutable reads the section names of an ELF file before its build information, so that a file not built by Go costs next to
// nothing. Stripped binaries also have the section.
func readExecutable(r io.ReaderAt) (Executable, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return Executable{}, err
	}
	var e Executable
	for _, p := range f.Progs {
		e.Dynamic = e.Dynamic || p.Type == elf.PT_INTERP
	}
	e.Managed = f.Section(managedCode) != nil
	if f.Section(".go.buildinfo") == nil {
		return e, nil
	}
	info, err := buildinfo.Read(r)
	if err != nil {
		return e, err
	}
	e.GoVersion = info.GoVersion
	if e.Main = info.Main.Path; e.Main == "" {
		e.Main = info.Path
	}
	return e, nil
}

// pprofSymbol is in the table of function names of a program that imports net/http/pprof. No linker flag removes it.
const pprofSymbol = "net/http/pprof.Index"

// HasPprof says whether an executable, such as /proc/4711/exe, was built with net/http/pprof, whose handlers are then in
// http.DefaultServeMux. Whether and where the program serves them is known only by asking. An error is one of reading.
func HasPprof(exe string) (bool, error) {
	file, err := os.Open(exe)
	if err != nil {
		return false, err
	}
	defer file.Close()
	f, err := elf.NewFile(file)
	var format *elf.FormatError
	switch {
	case errors.As(err, &format) || errors.Is(err, io.EOF):
		return false, nil
	case err != nil:
		return false, err
	case f.Section(".go.buildinfo") == nil:
		return false, nil
	}
	for _, s := range f.Sections {
		// .data.rel.ro.gopclntab in position-independent executables
		if strings.HasSuffix(s.Name, ".gopclntab") && s.Type != elf.SHT_NOBITS {
			return containsSymbol(s.Open(), pprofSymbol)
		}
	}
	return containsSymbol(file, pprofSymbol)
}

// containsSymbol searches a stream for a name between zero bytes, as a table of function names holds it.
func containsSymbol(r io.Reader, name string) (bool, error) {
	want := []byte("\x00" + name + "\x00")
	buf := make([]byte, 256<<10)
	kept := 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		if bytes.Contains(buf[:kept+n], want) {
			return true, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, buf[kept+n-len(want)+1:kept+n])
	}
}

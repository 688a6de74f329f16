package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/present/text"
)

// column is a column of the table of processes.
type column struct {
	head  string
	right bool // right-aligned
	cell  func(discover.Found) string
	brief func(discover.Found) string // returns a shorter form; nil: there is none
}

var columns = []column{
	{head: "PID", cell: func(f discover.Found) string { return fmt.Sprint(f.PID) }},
	{head: "NAME", cell: programName, brief: func(f discover.Found) string { return truncateName(programName(f), 20) }},
	{head: "RUNTIME", cell: runtimeName},
	{head: "USER", cell: func(f discover.Found) string { return f.User }, brief: func(f discover.Found) string { return truncateName(f.User, 8) }},
	{head: "CPU", right: true, cell: func(f discover.Found) string { return units.Fixed(f.CPU, 2) }},
	{head: "RSS", right: true, cell: func(f discover.Found) string { return units.Size(float64(f.RSS)) }},
	{head: "LISTENS", cell: func(f discover.Found) string { return formatListeners(f, 3) },
		brief: func(f discover.Found) string { return strings.ReplaceAll(formatListeners(f, 1), "127.0.0.1:", "lo:") }},
	{head: "CAN READ", cell: func(f discover.Found) string { return strings.Join(f.Reads, ", ") },
		brief: func(f discover.Found) string {
			return strings.ReplaceAll(strings.Join(f.Reads, ", "), "environment", "env")
		}},
	{head: "NEXT", cell: func(f discover.Found) string { return f.Next }},
}

// narrower are the columns to shorten in a narrow window, in this order.
var narrower = []struct {
	head string
	drop bool // drop the column instead of using its brief form
}{{"LISTENS", false}, {"NEXT", true}, {"CAN READ", false}, {"USER", false}, {"NAME", false}, {"USER", true}, {"LISTENS", true}, {"RSS", true}, {"CAN READ", true}, {"RUNTIME", true}}

// formatListing returns the table of processes that can be diagnosed, the data that this user may not read, and the commands to
// type next.
func formatListing(found []discover.Found, o text.Options, root bool) string {
	var b strings.Builder
	if len(found) == 0 {
		b.WriteString("No process here can be diagnosed: no Go, Java, .NET or Redis process, and none that listens at a port, found")
		if root {
			b.WriteString(".\n\n")
		} else {
			b.WriteString("\nthat this user may inspect. To list the processes of all users:\n\n  sudo unstall\n\n")
		}
		return b.String() + usage
	}
	for _, line := range layOutTable(found, o) {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
	writeUnreadable(&b, found, o, root)
	next := found[0].Next
	for _, l := range [][2]string{
		{next, "find why its requests are slow, and what to change"},
		{"unstall FILE...", "the same from logs, traces and profiles"},
		{"unstall causes", "list the known causes"},
		{"unstall --help", "everything else"},
	} {
		fmt.Fprintf(&b, "%-*s  %s\n", max(16, len(next)), l[0], l[1])
	}
	return b.String()
}

func layOutTable(found []discover.Found, o text.Options) []string {
	columns := slices.Clone(columns)
	rows, size := layOut(found, columns, o.ASCII)
	for _, n := range narrower {
		if size <= o.Width {
			break
		}
		i := slices.IndexFunc(columns, func(c column) bool { return c.head == n.head })
		if n.drop {
			columns = slices.Delete(columns, i, i+1)
		} else {
			columns[i].cell = columns[i].brief
		}
		rows, size = layOut(found, columns, o.ASCII)
	}
	if o.Color {
		rows[0] = "\x1b[2m" + rows[0] + "\x1b[0m"
	}
	return rows
}

// layOut aligns the cells and returns the width of the table beside its lines.
func layOut(found []discover.Found, columns []column, ascii bool) (lines []string, size int) {
	cells := make([][]string, len(found)+1)
	widths := make([]int, len(columns))
	for i, c := range columns {
		cells[0] = append(cells[0], c.head)
		for n, f := range found {
			cells[n+1] = append(cells[n+1], sanitizeName(c.cell(f), ascii))
		}
		for _, row := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range cells {
		var line strings.Builder
		for i, cell := range row {
			blank := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if columns[i].right {
				line.WriteString(blank + cell)
			} else {
				line.WriteString(cell + blank)
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
		size = max(size, utf8.RuneCountInString(lines[len(lines)-1]))
	}
	return lines, size
}

// writeUnreadable writes which processes this user may not read in full, grouped by the right needed to read them.
func writeUnreadable(b *strings.Builder, found []discover.Found, o text.Options, root bool) {
	var order []string
	by := map[string][]string{}
	for _, f := range found {
		if f.Needs == "" {
			continue
		}
		if by[f.Needs] == nil {
			order = append(order, f.Needs)
		}
		by[f.Needs] = append(by[f.Needs], fmt.Sprint(f.PID))
	}
	for _, needs := range order {
		of := by[needs]
		const most = 5
		if len(of) > most {
			of = append(of[:most:most], fmt.Sprintf("and %d more", len(by[needs])-most))
		}
		fmt.Fprintf(b, "%s: environment, open files and I/O of %s\n", sanitizeName("needs "+needs, o.ASCII), strings.Join(of, ", "))
	}
	if !root {
		b.WriteString("root also sees the processes of other users\n")
	}
	if len(order) > 0 || !root {
		b.WriteByte('\n')
	}
}

// programName returns the process's name. If that is the runtime's name, it returns the name of the program in it.
func programName(f discover.Found) string {
	if f.Main == "" || !platform.ByID(f.Runtime).Hosts || strings.Contains(strings.ToLower(f.Name), strings.ToLower(f.Main)) {
		return f.Name
	}
	return f.Name + " " + f.Main
}

func runtimeName(f discover.Found) string {
	r := platform.ByID(f.Runtime)
	if r.Versioned == "" && f.Version != "" {
		return f.Version // the version contains the runtime's name
	}
	return strings.TrimSpace(r.Title + " " + f.Version)
}

// formatListeners returns the first ports a process listens at, or its sockets' names if it has no
// port.
func formatListeners(f discover.Found, most int) string {
	var names []string
	for _, l := range f.Listens {
		if l.Addr.IsValid() {
			names = append(names, l.String())
		}
	}
	if len(names) == 0 {
		for _, l := range f.Listens {
			names = append(names, l.Path[strings.LastIndexByte(l.Path, '/')+1:])
		}
	}
	names = slices.Compact(names) // one entry for IPv4, one for IPv6
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("+%d", len(names)-most))
	}
	return strings.Join(names, " ")
}

func truncateName(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "~"
	}
	return s
}

// sanitizeName replaces control characters by '?', and with ascii also all characters outside ASCII, because processes choose
// their names themselves.
func sanitizeName(s string, ascii bool) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || ascii && r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, s)
}

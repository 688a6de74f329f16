package text

import (
	"io"
	"os"
	"strconv"
	"strings"
)

// Options say what the writer can show.
type Options struct {
	Width int  // columns; 0: 80
	Color bool // ANSI colours
	ASCII bool // no Unicode: bars of #, -> for arrows

	Verbose bool // lists are not cut
}

// narrowest and widest bound the width of a report, in columns.
const (
	narrowest = 40
	widest    = 110
)

// For returns the options that suit w: colours and the window's width if it is
// a terminal and NO_COLOR (https://no-color.org) is unset, Unicode if the locale
// says UTF-8. COLUMNS is the width where no terminal says one.
func For(w io.Writer) Options {
	o := Options{Width: envColumns(os.Getenv), ASCII: !utf8Locale(os.Getenv)}
	f, ok := w.(*os.File)
	if page, is := w.(interface{ Terminal() *os.File }); is { // a page of it
		f, ok = page.Terminal(), true
	}
	if ok {
		if _, columns, terminal := terminalSize(f); terminal {
			o.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
			if columns > 0 {
				o.Width = min(max(columns, narrowest), widest)
			}
		}
	}
	return o
}

// envColumns returns the width that COLUMNS asks for (POSIX, Base Definitions 8.3), 80 by default.
func envColumns(env func(string) string) int {
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && n > 0 {
		return min(max(n, narrowest), widest)
	}
	return 80
}

// Rows returns how many lines a terminal shows; false if f is no terminal.
func Rows(f *os.File) (rows int, ok bool) {
	rows, _, ok = terminalSize(f)
	return rows, ok
}

// utf8Locale follows locale(7): LC_ALL wins over LC_CTYPE, that over LANG.
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

package text

import (
	"io"
	"os"
	"strings"
)

// Options say what the writer can show.
type Options struct {
	Width int  // columns; 0: 80
	Color bool // ANSI colours
	ASCII bool // no Unicode: bars of #, -> for arrows

	Verbose bool // all there is, where else lists are cut
}

// For returns the options that suit w: colours and the window's width if it is
// a terminal and NO_COLOR (https://no-color.org) is unset, Unicode if the locale
// says UTF-8.
func For(w io.Writer) Options {
	o := Options{Width: 80, ASCII: !utf8Locale(os.Getenv)}
	f, ok := w.(*os.File)
	if page, is := w.(interface{ Terminal() *os.File }); is { // a page of it
		f, ok = page.Terminal(), true
	}
	if ok {
		if columns, terminal := window(f); terminal {
			o.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
			if columns > 0 {
				o.Width = min(max(columns, 40), 110)
			}
		}
	}
	return o
}

// Rows is how many lines a terminal shows; false if it is none, or does not say.
func Rows(f *os.File) (rows int, ok bool) { return height(f) }

// utf8Locale follows locale(7): LC_ALL wins over LC_CTYPE, that over LANG.
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

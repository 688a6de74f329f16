package platform

import (
	"path"
	"strings"

	"github.com/unstall/unstall/internal/collect/discover"
)

// PHPFPM is the process manager of PHP: a master, and pools of workers that each serve one request
// at a time (https://www.php.net/manual/install.fpm.php).
var PHPFPM = &Runtime{
	ID:        "php-fpm",
	Title:     "PHP-FPM",
	Versioned: "PHP",
	Lane:      "worker",
	Master:    true,
	Workers:   true,
	Requests:  "its access log (access.log, with %{milli}d and %C%% in access.format), or that of the web server before it",
	Recognise: &discover.Recogniser{
		Called: "php-fpm",
		Traces: func(p discover.Process) (discover.Seen, bool) {
			for _, name := range []string{path.Base(p.Exe()), p.Comm()} {
				if version, ok := matchPHPFPM(name); ok {
					return discover.Seen{Version: version}, true
				}
			}
			return discover.Seen{}, false
		},
	},
}

// matchPHPFPM recognizes the names PHP-FPM comes by, "php-fpm", "php-fpm8.2", "php8-fpm"; a
// version is in some.
func matchPHPFPM(name string) (version string, ok bool) {
	if rest, ok := strings.CutPrefix(name, "php-fpm"); ok && digitsOnly(rest) {
		return rest, true
	}
	if rest, ok := strings.CutPrefix(name, "php"); ok {
		rest, ok = strings.CutSuffix(rest, "-fpm")
		return rest, ok && digitsOnly(rest)
	}
	return "", false
}

// digitsOnly says whether a text is nothing but a version, or empty.
func digitsOnly(s string) bool { return strings.Trim(s, "0123456789.") == "" }

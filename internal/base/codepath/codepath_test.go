package codepath

import "testing"

// Files are named by the end of their paths, those of libraries from the folder on that shows it.
func TestShort(t *testing.T) {
	for path, want := range map[string]struct {
		short   string
		library bool
	}{
		"/srv/shop/ledger/views.py":           {"ledger/views.py", false},
		"main.py":                             {"main.py", false},
		"/usr/lib/python3.11/json/encoder.py": {"lib/python3.11/json/encoder.py", true},
		"/opt/venv/lib/python3.12/site-packages/graphql/language/parser.py": {"site-packages/graphql/language/parser.py", true},
		"/usr/lib/python3/dist-packages/psycopg2/pool.py":                   {"dist-packages/psycopg2/pool.py", true},
		"<frozen importlib._bootstrap>":                                     {"<frozen importlib._bootstrap>", true},
		`C:\shop\views.py`:                                                  {"shop/views.py", false},
		"/srv/shop/node_modules/express/lib/router.js":                      {"node_modules/express/lib/router.js", true},
		"node:internal/timers":                                              {"node:internal/timers", true},
		"/srv/mysite-packages/views.py":                                     {"mysite-packages/views.py", false},
		"":                                                                  {"", false},
	} {
		if got := Short(path); got != want.short || OfLibrary(got) != want.library {
			t.Errorf("%s: %s, of a library %t, want %+v", path, got, OfLibrary(got), want)
		}
	}
}

// A library is the folder or the file below the folder that shows it.
func TestPackage(t *testing.T) {
	for short, want := range map[string]string{
		"site-packages/graphql/language/parser.py": "site-packages/graphql",
		"lib/python3.11/json/encoder.py":           "lib/python3.11/json",
		"lib/python3.11/queue.py":                  "lib/python3.11/queue.py",
		"<frozen importlib._bootstrap>":            "<frozen importlib._bootstrap>",
		"ledger/views.py":                          "",
		"libc.so.6":                                "",
		"":                                         "",
	} {
		if got := Package(short); got != want {
			t.Errorf("%s: %s, want %s", short, got, want)
		}
	}
}

// What waits and calls is apart from what works, and a loop from its starter.
func TestIsPlumbing(t *testing.T) {
	for short, want := range map[string]bool{
		"lib/python3.11/asyncio/base_events.py":    true,
		"lib/python3.8/threading.py":               true,
		"lib/python3.11/json/encoder.py":           false,
		"site-packages/asyncio/base_events.py":     false,
		"<frozen runpy>":                           true,
		"<string>":                                 false,
		"ledger/queue.py":                          false,
		"site-packages/graphql/language/parser.py": false,
	} {
		if got := IsPlumbing(short); got != want {
			t.Errorf("%s: %t", short, got)
		}
	}
	if !IsLoop("BaseEventLoop._run_once", "lib/python3.11/asyncio/base_events.py") || IsLoop("run", "lib/python3.11/asyncio/base_events.py") || IsLoop("_run_once", "shop/loop.py") {
		t.Error("a loop is not recognised by its function and file")
	}
}

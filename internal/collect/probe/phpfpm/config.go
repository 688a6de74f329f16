package phpfpm

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pool is one as it is configured.
type pool struct {
	name, file string
	settings   [][2]string // of those that are kept, as they came
}

// kept are the settings that are recorded. env, php_value and php_admin_value may hold secrets.
var kept = []string{"listen", "listen.backlog", "pm", "pm.max_children", "pm.start_servers", "pm.min_spare_servers", "pm.max_spare_servers", "pm.max_requests",
	"pm.process_idle_timeout", "pm.status_path", "pm.status_listen", "access.log", "slowlog", "request_slowlog_timeout", "request_terminate_timeout"}

func (p *pool) findSetting(key string) string {
	for _, s := range p.settings {
		if s[0] == key {
			return strings.ReplaceAll(s[1], "$pool", p.name)
		}
	}
	return ""
}

// Bounds of what is read.
const (
	mostFiles = 200
	mostBytes = 1 << 20 // of one file
	mostPools = 64
	mostDeep  = 4 // includes in included files
)

// readConfiguration reads a configuration and what it includes; root is the root directory of the
// process as seen from here.
func readConfiguration(root, path string) (pools []*pool, err error) {
	c := &config{root: root}
	err = c.readFile(path, 0, &pools)
	return pools, err
}

type config struct {
	root  string
	files int
	in    *pool // whose section is read, across included files
}

func (c *config) readFile(path string, deep int, pools *[]*pool) error {
	if c.files++; c.files > mostFiles || deep > mostDeep {
		return nil
	}
	f, err := os.Open(filepath.Join(c.root, path))
	if err != nil {
		return err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file", path)
	}
	lines := bufio.NewScanner(io.LimitReader(f, mostBytes))
	for lines.Scan() {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 || text[0] == ';' || text[0] == '#' {
			continue
		}
		if text[0] == '[' && text[len(text)-1] == ']' {
			c.in = nil
			if name := string(text[1 : len(text)-1]); name != "global" && len(*pools) < mostPools {
				c.in = c.findOrAddPool(name, path, pools)
			}
			continue
		}
		k, v, ok := strings.Cut(string(text), "=")
		if !ok {
			continue
		}
		key, value := strings.TrimSpace(k), unquoteValue(v)
		switch {
		case key == "include":
			for _, name := range c.expandInclude(path, value) {
				_ = c.readFile(name, deep+1, pools) // FPM would not run with one it cannot read
			}
		case c.in != nil && slices.Contains(kept, key):
			c.in.file = path
			c.in.settings = append(c.in.settings, [2]string{key, value})
		}
	}
	return nil
}

// findOrAddPool returns the pool of a section. A section that is named again continues its pool.
func (c *config) findOrAddPool(name, path string, pools *[]*pool) *pool {
	if i := slices.IndexFunc(*pools, func(p *pool) bool { return p.name == name }); i >= 0 {
		return (*pools)[i]
	}
	p := &pool{name: name, file: path}
	*pools = append(*pools, p)
	return p
}

// unquoteValue returns a value without quotes and without a comment after it.
func unquoteValue(v string) string {
	v = strings.TrimSpace(v)
	if len(v) > 1 && (v[0] == '"' || v[0] == '\'') {
		if end := strings.IndexByte(v[1:], v[0]); end >= 0 {
			return strings.NewReplacer("\n", " ", "\r", " ").Replace(v[1 : 1+end])
		}
	}
	v, _, _ = strings.Cut(v, ";")
	return strings.TrimSpace(v)
}

// expandInclude returns the files of an include. A relative pattern is below the prefix PHP was
// built for, which is the configuration's own folder or one above it: /usr/local/etc/php-fpm.conf
// includes etc/php-fpm.d/*.conf.
func (c *config) expandInclude(from, pattern string) (names []string) {
	match := func(pattern string) []string {
		found, _ := filepath.Glob(filepath.Join(c.root, pattern))
		for i := range found {
			found[i] = "/" + strings.TrimPrefix(strings.TrimPrefix(found[i], c.root), "/")
		}
		slices.Sort(found)
		return found
	}
	if filepath.IsAbs(pattern) {
		return match(pattern)
	}
	for dir := filepath.Dir(from); ; dir = filepath.Dir(dir) {
		if names = match(filepath.Join(dir, pattern)); len(names) > 0 || dir == filepath.Dir(dir) {
			return names
		}
	}
}

// formatPools formats what is recorded of pools.
func formatPools(pools []*pool) []byte {
	var b bytes.Buffer
	for _, p := range pools {
		fmt.Fprintf(&b, "[%s]\nunstall.file = %s\n", p.name, p.file)
		for _, s := range p.settings {
			fmt.Fprintf(&b, "%s = %s\n", s[0], s[1])
		}
	}
	return b.Bytes()
}

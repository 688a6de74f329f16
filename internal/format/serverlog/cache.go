package serverlog

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Programs that keep values for some time log when a value is missing, and when they have made and kept it:
//
//	INFO - Cache MISS: prices:all
//	[CACHE MISS] prices:all
//	cache miss for key: prices:all
//	INFO - Cache SET: prices:all (computed in 2.53s)
//
// The words are each program's own; what is read is "cache" with "miss", "hit", "set", "store" or the like behind it, and the key. Where one key is missing
// again and again before the first has made its value, each makes it.

// mostKeys bounds the keys that are kept.
const mostKeys = 5000

// cacheWords are what a program says of a key.
var cacheWords = []struct {
	word string
	does cacheDoes
}{{"miss", missing}, {"set", kept}, {"stored", kept}, {"store", kept}, {"put", kept}, {"write", kept}, {"filled", kept}, {"hit", found}}

type cacheDoes uint8

const (
	nothing cacheDoes = iota
	missing
	kept
	found
)

// cacheLine reads what a line says of which key. The name of a logger may have the word, too.
func cacheLine(l []byte) (does cacheDoes, key string, took float64) {
	const most = 4 // times that a line has the word
	for range most {
		at := indexFold(l, "cache")
		if at < 0 {
			break
		}
		if does, key, took = saidOfCache(string(l[at+len("cache") : min(len(l), at+2*mostName+64)])); does != nothing {
			return does, key, took
		}
		l = l[at+len("cache"):]
	}
	return nothing, "", 0
}

// saidOfCache reads what stands behind the word.
func saidOfCache(rest string) (does cacheDoes, key string, took float64) {
	if len(rest) == 0 || !strings.ContainsRune(" _-", rune(rest[0])) {
		return nothing, "", 0
	}
	rest = rest[1:]
	for _, w := range cacheWords {
		if len(rest) > len(w.word) && strings.EqualFold(rest[:len(w.word)], w.word) && !isLetter(rest[len(w.word)]) {
			does, rest = w.does, rest[len(w.word):]
			break
		}
	}
	if does == nothing {
		return nothing, "", 0
	}
	rest = strings.TrimLeft(rest, " ]:-")
	for _, w := range []string{"for ", "key ", "key=", "key: "} {
		rest = strings.TrimLeft(strings.TrimPrefix(rest, w), " :")
	}
	rest = strings.TrimLeft(rest, "[\"'")
	key, rest, _ = strings.Cut(rest, " ")
	key = strings.TrimRight(key, ".,;:]\"'")
	if len(key) < 3 || len(key) > mostName || !strings.ContainsAny(key, ":._-/") && strings.ToLower(key) == key && len(key) < 6 {
		return nothing, "", 0 // a word of a sentence
	}
	for _, w := range []string{" in ", "(in ", "took "} {
		if _, time, ok := strings.Cut(" "+rest, w); ok {
			took = durationOf(strings.Replace(strings.Replace(time, " s", "s", 1), " ms", "ms", 1))
			break
		}
	}
	return does, strings.ToValidUTF8(key, "?"), took
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// indexFold is the place of a lower-case word in text, whatever its case.
func indexFold(text []byte, word string) int {
	for at := 0; ; {
		i := bytes.IndexAny(text[at:], word[:1]+strings.ToUpper(word[:1]))
		if i < 0 || at+i+len(word) > len(text) {
			return -1
		}
		if at += i; strings.EqualFold(string(text[at:at+len(word)]), word) {
			return at
		}
		at++
	}
}

// fillsCache says whether text tells both of a missing key and of one that was kept.
func fillsCache(head []byte) bool {
	if indexFold(head, "cache") < 0 {
		return false
	}
	var c cacheLog
	for l := range bytes.Lines(head) {
		if len(l) <= mostLine {
			c.readLine(format.Line{Text: bytes.TrimRight(l, "\r\n"), Number: 1})
		}
		if c.filled() {
			return true
		}
	}
	return false
}

// cached is a key of which a log tells.
type cached struct {
	key     string
	open    int // times that it was missing since it was kept
	made    int // times that it was kept since it was missing
	crowds  int // times that several made it
	most    int // most that made it at once
	longest float64
	line    int64
}

// crowdOf is how many must make a value at once to count as a crowd.
const crowdOf = 2

type cacheLog struct {
	keys           map[string]*cached
	misses, sets   int
	dropped, lines int
}

func (c *cacheLog) readLine(l format.Line) bool {
	does, key, took := cacheLine(l.Text)
	if does == nothing {
		return false
	}
	c.lines++
	if does == found {
		return true
	}
	x := c.keys[key]
	if x == nil {
		if len(c.keys) == mostKeys {
			c.dropped++
			return true
		}
		if c.keys == nil {
			c.keys = make(map[string]*cached)
		}
		x = &cached{key: key, line: l.Number}
		c.keys[key] = x
	}
	switch does {
	case missing:
		c.misses++
		if x.made > 0 {
			x.endCrowd()
		}
		x.open++
	case kept:
		c.sets++
		if x.made < x.open {
			x.made++
		}
		x.longest = max(x.longest, took)
	}
	return true
}

// endCrowd counts a crowd: each that missed the value has made it.
func (x *cached) endCrowd() {
	if x.made >= crowdOf {
		x.crowds++
		x.most = max(x.most, x.made)
	}
	x.open, x.made = max(0, x.open-x.made), 0
}

// filled says whether the log tells of keys that were missing and of some that were kept: without these, nothing tells that a value was made.
func (c *cacheLog) filled() bool { return c.misses > 0 && c.sets > 0 }

func (c *cacheLog) emit(b *evidence.Builder) {
	if !c.filled() {
		return
	}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process})
	var worst *cached
	for _, x := range c.keys {
		x.endCrowd()
		if worst == nil || x.most > worst.most || x.most == worst.most && (x.longest > worst.longest || x.longest == worst.longest && x.key < worst.key) {
			worst = x
		}
	}
	t := evidence.Table{Title: "what a cache lacked, by the program's log", Columns: []string{"", ""}}
	t.Rows = append(t.Rows, []string{"times that a value was missing", strconv.Itoa(c.misses)}, []string{"times that a value was kept", strconv.Itoa(c.sets)},
		[]string{"most that made the same value at once", strconv.Itoa(worst.most)})
	if worst.longest > 0 {
		t.Rows = append(t.Rows, []string{"longest that this took s", fmt.Sprintf("%.4g", worst.longest/1e9)})
	}
	b.Table(t)
	b.FactAt(subject, evidence.FactCacheCrowd, worst.key, float64(worst.most), worst.line)
	b.FactAt(subject, evidence.FactCacheCrowds, worst.key, float64(worst.crowds), worst.line)
	if worst.longest > 0 {
		b.FactAt(subject, evidence.FactCacheMade, worst.key, worst.longest, worst.line)
	}
	if c.dropped > 0 {
		b.Warnf(0, "lines about more than %d keys of a cache, left out: %d", mostKeys, c.dropped)
	}
}

package redact

import "bytes"

// ID stands where a segment of a path was that names one thing and no kind of
// things: routes have it, too.
const ID = "{id}"

// joined are the bytes that words are made of: names, paths, addresses.
var joined = func() (t [256]bool) {
	for c := range t {
		t[c] = isAlnum(byte(c)) || c >= 0x80
	}
	for _, c := range "._-+%@/:~$*!" {
		t[c] = true
	}
	return t
}()

// letter are letters and digits.
var letter = func() (t [256]bool) {
	for c := range t {
		t[c] = isAlnum(byte(c))
	}
	return t
}()

// hideShapes hides what shows by its form, without a name before it: values in the queries of
// URLs, segments of paths that name one thing only, e-mail addresses, numbers of cards, and keys
// as vendors form them.
func (s *scanner) hideShapes() {
	b := s.in
	for i := 0; i < len(b); {
		if !joined[b[i]] {
			i++
			continue
		}
		z := i + 1
		for z < len(b) && joined[b[z]] {
			z++
		}
		if z-i >= leastWord {
			s.scanWord(i, z)
		}
		if s.own {
			i = z
			continue
		}
		if z < len(b) && b[z] == '?' && bytes.IndexByte(b[i:z], '/') >= 0 {
			z = s.hideQuery(z + 1)
		} else if z < len(b) && b[z] == '=' && b[i] != '-' && s.isPairList(i, z) {
			z = s.hideQuery(i)
		}
		i = max(z, i+1)
	}
	s.hideCards()
}

// leastWord is shorter than any secret that is known by its form.
const leastWord = 6

// longestKey bounds how far the end of a key is looked for.
const longestKey = 2048

// scanWord looks at one word.
func (s *scanner) scanWord(i, z int) {
	b := s.in
	from := i
	if k := bytes.Index(b[i:z], []byte("://")); k >= 0 {
		from = i + k + 3
		if slash := bytes.IndexByte(b[from:z], '/'); slash >= 0 {
			s.scanPath(from, from+slash, z)
			from += slash
		} else {
			from = z
		}
	} else if slash := bytes.IndexByte(b[i:z], '/'); slash >= 0 {
		s.scanPath(i, i+slash, z)
	}
	if z+1 < len(b) && b[z] == ' ' && equalsAny(b[i:z], "requirepass", "masterauth") { // as redis.conf has it
		s.hideRange(z+1, valueEnd(b, z+1))
	}
	for at := from; at < z; {
		k := bytes.IndexByte(b[at:z], '@')
		if k < 0 {
			break
		}
		at += k
		if l, r := findAddress(b, from, at, z); r > 0 {
			s.spans = append(s.spans, span{l, r, Mark})
		}
		at++
	}
	begun := false // a run of letters and digits
	for k := i; k < z; k++ {
		if !letter[b[k]] {
			begun = false
			continue
		}
		if !begun {
			if n := vendorKeyLength(b[k:min(z, k+longestKey)]); n > 0 {
				s.spans = append(s.spans, span{k, k + n, Mark})
				k += n - 1
			}
		}
		begun = letter[b[k]]
	}
}

// scanPath looks at the segments of a path that begins with the slash at i; what is before it,
// from from, is a host.
func (s *scanner) scanPath(from, i, z int) {
	b := s.in
	p := PathOf(b[from:i])
	for i < z {
		i++ // the slash
		end := bytes.IndexByte(b[i:z], '/')
		if end < 0 {
			end = z
		} else {
			end += i
		}
		if segment := bytes.TrimRight(b[i:end], ".:,!"); !s.own && p.Single(segment) {
			s.spans = append(s.spans, span{i, i + len(segment), ID})
		}
		i = end
	}
}

// Path is a path that is gone through segment by segment.
type Path struct {
	given bool // what comes now only who was given it should know
	begun bool
	file  bool // it is that of a file
}

// PathOf is a path on a host, "" unknown. All of the path of a webhook's host is
// given to somebody.
func PathOf(host []byte) Path { return Path{given: bytes.HasPrefix(host, []byte("hooks."))} }

// Single says whether the next segment names one thing only.
func (p *Path) Single(segment []byte) bool {
	if Segment(segment) || p.given && isHandedOut(segment) {
		return true
	}
	if !p.begun && len(segment) > 0 {
		p.begun = true
		p.file = rootFolders.hasWord(segment)
	}
	p.given = !p.file && (p.given || handsOut(segment))
	return false
}

// handsOut says whether what follows a segment of a path is likely to be
// something that only who was given it should know.
func handsOut(segment []byte) bool {
	return handing.hasWord(segment)
}

var (
	handing = wordsOf("webhook", "webhooks", "hook", "hooks", "invite", "invites", "invitation", "invitations", "reset", "reset-password", "password-reset",
		"verify", "confirm", "confirmation", "unsubscribe", "magic", "magic-link", "activate", "activation", "token", "tokens", "share", "shared", "secret", "secrets", "session", "sessions")
	rootFolders = wordsOf("usr", "opt", "var", "home", "lib", "lib64", "etc", "proc", "sys", "root", "tmp", "run", "nix", "srv", "mnt")
)

// isHandedOut says whether a segment behind such a one may be what was handed out, and is not a
// word or a number of a page.
func isHandedOut(segment []byte) bool {
	var digits, letters int
	if bytes.IndexByte(segment, '.') >= 0 { // a file
		return false
	}
	for _, c := range segment {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case isAlnum(c):
			letters++
		}
	}
	return digits > 0 && letters > 0 && len(segment) >= 5 || digits >= 10 || len(segment) >= 24 && bytes.IndexByte(segment, '-') < 0
}

// Segment says whether a segment of a path names one thing only: a UUID, a
// token, an e-mail address. Numbers of a few digits are none: they tell nothing.
func Segment(b []byte) bool {
	if at := bytes.IndexByte(b, '@'); at > 0 {
		if _, r := findAddress(b, 0, at, len(b)); r > 0 {
			return true
		}
	}
	return bytes.Contains(b, []byte("%40")) || looksRandom(b)
}

// findAddress finds the e-mail address whose @ is at at, within b[from:to]; r is 0 if there is
// none. Versions of modules have an @, too: net@v0.1.0, base@17.0.1.
func findAddress(b []byte, from, at, to int) (l, r int) {
	l, r = at, at+1
	for l > from && (isWordByte(b[l-1]) || b[l-1] == '.' || b[l-1] == '+' || b[l-1] == '%') {
		l--
	}
	dot := -1
	for r < to && (isWordByte(b[r]) || b[r] == '.') {
		if b[r] == '.' && r+1 < to && isAlnum(b[r+1]) {
			dot = r
		}
		r++
	}
	for r > at+1 && !isAlnum(b[r-1]) {
		r--
	}
	host := b[at+1 : r]
	if l == at || dot <= at+1 || isDigitByte(host[0]) || host[0] == 'v' && isDigitByte(host[1]) {
		return 0, 0
	}
	top := b[dot+1 : r]
	if len(top) < 2 || len(top) > 24 || equalsAny(top, "service", "socket", "timer", "target", "mount", "slice", "scope", "jar", "class", "java", "go", "js", "so") { // units of systemd, files
		return 0, 0
	}
	for _, c := range top {
		if isDigitByte(c) || !isAlnum(c) {
			return 0, 0
		}
	}
	return l, r
}

func isDigitByte(c byte) bool { return '0' <= c && c <= '9' }

// looksRandom says whether a word looks drawn at random: what people and programs name things has
// neither so many changes between letters and digits nor between capitals and small letters.
func looksRandom(b []byte) bool {
	n := len(b)
	if n < 16 || b[0] == '0' && b[1]|0x20 == 'x' { // an address
		return false
	}
	var digits, uppers, lowers, hexes, dashes, dots, cases int
	const none, isDigit, isUpper, isLower = 0, 1, 2, 3
	last, changes := none, 0
	for _, c := range b {
		kind := none
		switch {
		case isDigitByte(c):
			digits, hexes, kind = digits+1, hexes+1, isDigit
		case 'a' <= c && c <= 'z':
			lowers, kind = lowers+1, isLower
		case 'A' <= c && c <= 'Z':
			uppers, kind = uppers+1, isUpper
		case c == '-':
			dashes++
		case c == '.':
			dots++
		case c == '_' || c == '=' || c == '~' || c == '+':
		case c == '%': // escaped
		default:
			return false
		}
		if kind == none {
			continue
		}
		if c|0x20 >= 'a' && c|0x20 <= 'f' {
			hexes++
		}
		if last != none && kind != last {
			if kind == isDigit || last == isDigit {
				changes++
			} else {
				cases++
			}
		}
		last = kind
	}
	letters := uppers + lowers
	switch {
	case digits > 0 && hexes == n-dashes && (letters > 0 || n == 36 && dashes == 4): // UUIDs and hexadecimal digits
		return true
	case dots > 0 && !hasLongParts(b):
		return false
	case uppers > 0 && lowers > 0 && digits > 1:
		return changes >= max(3, n/8) && (changes+cases)*5 >= n*2
	case letters > 0 && digits >= 4 && n >= 20:
		return changes >= max(6, n/5)
	case digits == 0 && n >= 24 && dashes == 0:
		return cases*100 > n*42
	}
	return false
}

// hasLongParts says whether a word with dots is a token of several parts, and no name of a file or
// a class: the parts are long.
func hasLongParts(b []byte) bool {
	for part := range bytes.SplitSeq(b, []byte(".")) {
		if len(part) < 16 {
			return false
		}
	}
	return true
}

// Value returns a text that people gave to something at run time without its
// secrets: the name of a thread, a label of a profile, what was logged into a trace.
// It goes further than [Line]: words that look drawn at random go, too.
func Value(b []byte) []byte {
	s := scanner{in: Line(b)}
	s.hideRandomWords()
	return s.redactedText()
}

// OverwriteValue puts asterisks over what [Value] would hide.
func OverwriteValue(b []byte) bool {
	s := scanner{in: b}
	s.scanRange(0, len(b))
	s.hideShapes()
	s.hideRandomWords()
	return s.overwriteSpans()
}

// Named is [Value] for a value that has a name.
func Named(name, value []byte) []byte {
	if w := weighName(name); (w == strong || w == weak && looksSecret(value)) && !harmlessValue(value) && len(value) > 0 {
		return []byte(Mark)
	}
	return Value(value)
}

// Own is [Line] for what the tool or a runtime wrote itself, such as counters and
// names of functions: paths in it are those of files and control groups, and stay.
func Own(b []byte) []byte {
	if isCounterLine(b) {
		return b
	}
	s := scanner{in: b, own: true}
	s.scanRange(0, len(b))
	s.hideShapes()
	return s.redactedText()
}

// isCounterLine says whether a line is a word and five numbers or more, as tables of counters are:
// four of them, and nanoseconds of some weeks, may look like the number of a payment card.
func isCounterLine(b []byte) bool {
	n := 0
	for i, f := range bytes.Fields(b) {
		number := true
		for _, c := range f {
			number = number && (isDigitByte(c) || c == '.' || c == '-')
		}
		switch {
		case number:
			n++
		case i > 0:
			return false
		}
	}
	return n > 4
}

func (s *scanner) hideRandomWords() {
	b := s.in
	for i := 0; i < len(b); {
		z := i
		for z < len(b) && (isWordByte(b[z]) || b[z] == '.') {
			z++
		}
		if looksRandom(b[i:z]) {
			s.spans = append(s.spans, span{i, z, Mark})
		}
		i = z + 1
	}
}

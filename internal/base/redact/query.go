package redact

// hideQuery hides the values of the query that begins at i, and returns where it ends. It keeps the parameters' names, which may help a
// diagnosis; the values do not.
func (s *scanner) hideQuery(i int) int {
	b := s.in
	for {
		name := i
		for i < len(b) && !endsParameter(b, i) && b[i] != '=' {
			i++
		}
		if i < len(b) && b[i] == '=' {
			from := i + 1
			if i = from; hasPrefix(b[i:], Mark) {
				i += len(Mark)
			}
			for i < len(b) && !endsParameter(b, i) {
				i++
			}
			s.hideOnce(from, i)
		} else if i-name > longestFlag || looksRandom(b[name:i]) || digitsIn(b[name:i]) > 3 {
			s.hideOnce(name, i) // a value without a name
		}
		n := separatorLength(b, i)
		if n == 0 {
			return i
		}
		i += n
	}
}

// longestFlag exceeds the length of parameters without a value: ?wsdl, ?download.
const longestFlag = 24

// longestPair is the distance within which the second of two pairs is searched.
const longestPair = 4096

// hideOnce hides a value unless it is hidden already.
func (s *scanner) hideOnce(from, to int) {
	if v := s.in[from:to]; len(v) > 0 && !hasPrefix(v, Mark) {
		s.spans = append(s.spans, span{from, to, Mark})
	}
}

// endsParameter says whether a parameter ends before b[i].
func endsParameter(b []byte, i int) bool {
	switch c := b[i]; c {
	case '&', '"', '\'', '<', '>', '`', '#', '|', '\t', ' ':
		return true
	case '\\':
		return true
	case ')', ']', '}', ',', ';':
		return i+1 == len(b) || b[i+1] <= ' ' || b[i+1] == '"' || b[i+1] == ',' || c == ';'
	default:
		return c < ' '
	}
}

// separatorLength returns the length of the separator of two parameters at i, 0 if the query ends there.
func separatorLength(b []byte, i int) int {
	for _, sep := range []string{"&amp;", "&", ";", `\u0026`, `\\u0026`} {
		if hasPrefix(b[i:], sep) && i+len(sep) < len(b) && lower[b[i+len(sep)]] != 0 {
			return len(sep)
		}
	}
	return 0
}

// isPairList reports whether name=value at i, with its = at eq, is a query that some logs print apart from the path: name=value&name=value.
func (s *scanner) isPairList(i, eq int) bool {
	b := s.in
	for k := i; k < eq; k++ {
		if lower[b[k]] == 0 {
			return false
		}
	}
	if i > 1 && b[i-1] == '"' {
		k := i - 1
		for k > 0 && (b[k-1] == ' ' || b[k-1] == ':' || b[k-1] == '"' || b[k-1] == '\\') {
			k--
		}
		from := nameBefore(b, 0, k)
		if from < k && equalsAny(b[from:k], "query", "args", "query_string", "querystring", "url_query", "uri_query", "request_query", "cs_uri_query", "cs-uri-query") {
			return true
		}
	}
	z := eq + 1
	for z < min(len(b), eq+longestPair) && !endsParameter(b, z) {
		z++
	}
	n := 0
	if z < len(b) {
		n = separatorLength(b, z)
	}
	if n == 0 || b[z] == ';' {
		return false
	}
	for k := z + n; k < len(b) && lower[b[k]] != 0; k++ {
		if k+1 < len(b) && b[k+1] == '=' {
			return true
		}
	}
	return false
}

func digitsIn(b []byte) (n int) {
	for _, c := range b {
		if isDigitByte(c) {
			n++
		}
	}
	return n
}

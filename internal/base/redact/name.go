package redact

import "strings"

// weight is how certainly a name means that its value is a secret.
type weight int

const (
	harmless weight = iota
	weak            // possibly: "key", "session"
	strong
)

// Names in the form for comparison: lower case, without - _ and dots. Strong names also count as endings: "db_password", "X-Auth-Token".
var (
	strongNames = []string{
		"token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "signature",
		"authorization", "cookie", "sessionid", "sessid", "jwt", "requirepass", "masterauth", "connectsid", "passcode", "csrf", "webhook", "webhookurl", "connectionstring", "mnemonic", "masterkey", "hmackey",
		"apikey", "accesskey", "secretkey", "privatekey", "authkey", "signingkey", "encryptionkey", "subscriptionkey", "accountkey",
	}
	weakNames = []string{"key", "auth", "session", "sid", "sig", "code", "pass", "pwd", "pw", "pin", "otp"}

	// shortNames count after a separator: "DB_PASS". Alone they are weak.
	shortNames = []string{"pass", "pwd"}

	// .NET writes the hash of a public key after each assembly's name.
	harmlessNames = []string{"publickeytoken"}
)

// byLast indexes names by their last letter, which few words share.
var byLast = func() (t [256]struct{ strong, weak []string }) {
	for _, n := range strongNames {
		c := n[len(n)-1]
		t[c].strong = append(t[c].strong, n)
	}
	for _, n := range weakNames {
		c := n[len(n)-1]
		t[c].weak = append(t[c].weak, n)
	}
	return t
}()

// lower maps a byte to lower case, and to 0 if it cannot be in a name.
var lower = func() (t [256]byte) {
	for c := range t {
		switch b := byte(c); {
		case 'A' <= b && b <= 'Z':
			t[c] = b + 'a' - 'A'
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '-', b == '_', b == '.':
			t[c] = b
		}
	}
	return t
}()

const maxName = 64

// weighName judges a name.
func weighName(name []byte) weight {
	if len(name) < 2 {
		return harmless
	}
	last := &byLast[lower[name[len(name)-1]]]
	if last.strong == nil && last.weak == nil {
		return harmless
	}
	var buf [maxName]byte
	plain := normalizeName(buf[:0], name)
	for _, n := range shortNames {
		if len(plain) > len(n)+1 && strings.HasSuffix(string(plain), n) && strings.IndexByte("-_.", name[len(name)-len(n)-1]) >= 0 {
			return strong
		}
	}
	for _, n := range last.strong {
		if strings.HasSuffix(string(plain), n) {
			for _, h := range harmlessNames {
				if string(plain) == h {
					return harmless
				}
			}
			return strong
		}
	}
	for _, n := range last.weak {
		if string(plain) == n {
			return weak
		}
	}
	return harmless
}

// normalizeName appends the end of a name in the form for comparison.
func normalizeName(to, name []byte) []byte {
	for _, c := range name[max(0, len(name)-maxName):] {
		if c = lower[c]; c != '-' && c != '_' && c != '.' {
			to = append(to, c)
		}
	}
	return to
}

// nameBefore returns where the name that ends before i begins, at from or later.
func nameBefore(b []byte, from, i int) int {
	k := i
	for k > from && lower[b[k-1]] != 0 {
		k--
	}
	switch {
	case k > from && b[k-1] == '%' && i-k > 2: // %3Ftoken
		k += 2
	case k > from && b[k-1] == '\\' && i-k > 5 && string(b[k:k+5]) == "u0026": // JSON's &
		k += 5
	}
	return k
}

// inQuery reports whether a parameter of a URL's query begins at k.
func inQuery(b []byte, k int) bool {
	if k == 0 {
		return false
	}
	switch b[k-1] {
	case '?', '&':
		return true
	}
	return hasSuffix(b[:k], "%26") || hasSuffix(b[:k], "%3F") || hasSuffix(b[:k], "%3f") || hasSuffix(b[:k], `\u0026`) || hasSuffix(b[:k], "&amp;")
}

func hasSuffix(b []byte, s string) bool { return len(b) >= len(s) && string(b[len(b)-len(s):]) == s }

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// beginsFold compares ignoring case with s, which is in lower case.
func beginsFold(b []byte, s string) bool {
	return len(b) >= len(s) && strings.EqualFold(string(b[:len(s)]), s)
}

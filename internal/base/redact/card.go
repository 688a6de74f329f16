package redact

// hideCards hides numbers of payment cards: 13 to 16 digits, alone or in groups of four, with an issuer's prefix and Luhn's check digit.
// https://en.wikipedia.org/wiki/Payment_card_number
func (s *scanner) hideCards() {
	b := s.in
	for i := 0; i < len(b); {
		if !isDigitByte(b[i]) {
			i++
			continue
		}
		var number [16]byte
		n, k, groups := 0, i, 0
		for k < len(b) && n < len(number) && (isDigitByte(b[k]) || (b[k] == ' ' || b[k] == '-') && k+1 < len(b) && isDigitByte(b[k+1]) && n%4 == 0 && (groups > 0 || n == 4)) {
			if isDigitByte(b[k]) {
				number[n] = b[k]
				n++
			} else {
				groups++
			}
			k++
		}
		whole := (i == 0 || !isAlnum(b[i-1]) && b[i-1] != '.' && b[i-1] != '-' && b[i-1] != '_') && (k == len(b) || !isAlnum(b[k]) && b[k] != '_' && !(b[k] == '.' && k+1 < len(b) && isDigitByte(b[k+1])))
		if whole && (groups == 0 || groups == 3 && n == 16) && hasIssuerPrefix(number[:n]) && passesLuhn(number[:n]) {
			s.spans = append(s.spans, span{i, k, Mark})
			i = k
			continue
		}
		for i < len(b) && isDigitByte(b[i]) {
			i++
		}
	}
}

// hasIssuerPrefix reports whether a number begins like those of the large issuers.
func hasIssuerPrefix(n []byte) bool {
	if len(n) < 13 {
		return false
	}
	two := int(n[0]-'0')*10 + int(n[1]-'0')
	switch len(n) {
	case 13:
		return false // ms since the epoch are as long
	case 15:
		return two == 34 || two == 37
	case 16:
		return n[0] == '4' || two >= 51 && two <= 55 || two >= 22 && two <= 27 || two == 60 || two == 65 || two == 35
	}
	return false
}

func passesLuhn(n []byte) bool {
	sum := 0
	for i, c := range n {
		d := int(c - '0')
		if (len(n)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

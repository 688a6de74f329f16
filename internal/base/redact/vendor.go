package redact

import "strings"

// vendors are the beginnings by which keys and tokens are told, as their vendors
// and the scanners of code hosts document them, and how many bytes of which kind
// follow at least.
var vendors = []struct {
	prefix string
	least  int
	of     func(byte) bool
}{
	{"AIza", 30, isWordByte}, {"ya29.", 20, isWordByte}, {"GOCSPX-", 20, isWordByte}, {"1//0", 30, isWordByte}, // Google
	{"A3T", 17, isUpperOrDigit}, {"ABIA", 16, isUpperOrDigit}, {"ACCA", 16, isUpperOrDigit}, {"AROA", 16, isUpperOrDigit}, {"AIDA", 16, isUpperOrDigit}, {"amzn.mws.", 30, isWordByte}, // AWS
	{"LTAI", 12, isAlnum}, {"AKID", 28, isAlnum}, // Alibaba, Tencent
	{"sk-", 20, isWordByte}, {"sess-", 30, isAlnum}, {"gsk_", 20, isAlnum}, {"xai-", 20, isAlnum}, {"pplx-", 20, isAlnum}, {"r8_", 20, isAlnum}, {"hf_", 20, isAlnum}, {"lsv2_", 20, isWordByte},
	{"sk_test_", 16, isAlnum}, {"rk_test_", 16, isAlnum}, {"pk_live_", 16, isAlnum}, {"pk_test_", 16, isAlnum}, {"whsec_", 16, isWordByte}, // Stripe
	{"npm_", 30, isAlnum}, {"pypi-", 30, isWordByte}, {"rubygems_", 30, isAlnum}, {"dckr_pat_", 20, isWordByte}, {"CLOJARS_", 30, isAlnum}, {"oy2", 40, isAlnum}, {"cio", 30, isAlnum},
	{"dop_v1_", 30, isAlnum}, {"doo_v1_", 30, isAlnum}, {"dor_v1_", 30, isAlnum}, // DigitalOcean
	{"shpat_", 20, isAlnum}, {"shpss_", 20, isAlnum}, {"shpca_", 20, isAlnum}, {"shppa_", 20, isAlnum}, // Shopify
	{"SG.", 40, isDottedByte}, {"key-", 32, isHexDigit}, {"xkeysib-", 30, isWordByte}, {"xsmtpsib-", 30, isWordByte}, {"mlsn.", 30, isWordByte}, {"re_", 24, isWordByte}, {"pubkey-", 32, isHexDigit}, // mail
	{"AC", 32, isHexDigit}, {"SK", 32, isHexDigit}, // Twilio
	{"xoxe-", 10, isWordByte}, {"xoxe.", 10, isDottedByte}, {"xoxr-", 10, isWordByte}, {"xapp-", 10, isWordByte}, // Slack
	{"glptt-", 16, isWordByte}, {"gldt-", 16, isWordByte}, {"glrt-", 16, isWordByte}, {"glcbt-", 16, isWordByte}, {"glft-", 16, isWordByte}, {"glsoat-", 16, isWordByte}, {"GR1348941", 16, isWordByte}, // GitLab
	{"lin_api_", 20, isAlnum}, {"ntn_", 20, isAlnum}, {"secret_", 32, isAlnum}, {"figd_", 20, isWordByte}, {"PMAK-", 20, isWordByte}, {"CFPAT-", 20, isWordByte}, {"ATATT3", 20, isDottedByte}, {"ATBB", 24, isAlnum}, {"ATCTT3", 20, isDottedByte},
	{"sq0atp-", 20, isWordByte}, {"sq0csp-", 20, isWordByte}, {"sq0idp-", 20, isWordByte}, {"EAAA", 40, isWordByte}, {"rzp_live_", 10, isAlnum}, {"rzp_test_", 10, isAlnum}, {"EZAK", 40, isAlnum}, {"EZTK", 40, isAlnum}, {"duffel_live_", 20, isWordByte}, {"access_token$production$", 20, isWordByte},
	{"dapi", 32, isHexDigit}, {"hvs.", 20, isWordByte}, {"hvb.", 20, isWordByte}, {"hvr.", 20, isWordByte}, {"pul-", 40, isHexDigit}, {"dp.pt.", 30, isAlnum}, {"dp.st.", 30, isDottedByte}, {"dp.ct.", 30, isAlnum}, {"tskey-", 16, isWordByte}, {"ops_ey", 40, isWordByte},
	{"NRAK-", 20, isAlnum}, {"NRJS-", 16, isAlnum}, {"NRII-", 20, isWordByte}, {"dt0c01.", 40, isDottedByte}, {"glc_", 30, isDottedByte}, {"glsa_", 30, isWordByte}, {"sntrys_", 30, isWordByte}, {"sntryu_", 30, isAlnum}, {"phc_", 30, isAlnum}, {"phx_", 30, isAlnum}, {"sgp_", 30, isWordByte},
	{"AGE-SECRET-KEY-1", 30, isUpperOrDigit}, {"AKCp", 40, isAlnum}, {"bkua_", 30, isAlnum}, {"CCIPAT_", 30, isWordByte}, {"nfp_", 30, isAlnum}, {"fo1_", 30, isWordByte}, {"fm1r_", 30, isWordByte}, {"fm2_", 30, isWordByte}, {"sbp_", 30, isAlnum}, {"pscale_tkn_", 30, isWordByte}, {"pscale_pw_", 30, isWordByte}, {"pscale_oauth_", 30, isWordByte},
	{"EAACEdEose0cBA", 10, isAlnum}, {"IGQV", 30, isWordByte}, {"waka_", 30, isWordByte}, {"sl.", 60, isWordByte}, {"v1.0-", 100, isWordByte}, {"tfp_", 30, isWordByte}, {"HRKU-", 30, isWordByte}, {"ico-", 30, isAlnum},
}

// byFirst finds vendors by the first byte.
var byFirst = func() (t [256][]int) {
	for i, v := range vendors {
		t[v.prefix[0]] = append(t[v.prefix[0]], i)
	}
	return t
}()

func isHexDigit(c byte) bool { return isDigitByte(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// vendorKeyLength returns how long the key is that a word begins with, 0 if it is none.
func vendorKeyLength(b []byte) int {
	for _, i := range byFirst[b[0]] {
		v := &vendors[i]
		if len(b) < 2 || b[1] != v.prefix[1] || !hasPrefix(b, v.prefix) {
			continue
		}
		n := runLength(b[len(v.prefix):], v.of)
		if n >= v.least && looksDrawn(b[len(v.prefix):len(v.prefix)+n]) {
			return len(v.prefix) + n
		}
	}
	switch {
	case isDigitByte(b[0]):
		return telegramTokenLength(b)
	case len(b) >= 59 && strings.IndexByte("MNO", b[0]) >= 0:
		return discordTokenLength(b)
	}
	return 0
}

// looksDrawn says whether what follows a beginning may have been drawn at random: names of things
// have no digits, or only few at the end.
func looksDrawn(b []byte) bool {
	var upper, lower bool
	for _, c := range b {
		upper, lower = upper || 'A' <= c && c <= 'Z', lower || 'a' <= c && c <= 'z'
	}
	n := digitsIn(b)
	return n >= 2 || n == 1 && (len(b) < 20 || upper && lower) || len(b) >= 30
}

// telegramTokenLength returns how long the token of a Telegram bot is that b begins with,
// 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw; 0 if it is none.
func telegramTokenLength(b []byte) int {
	n := runLength(b, isDigitByte)
	if n < 8 || n > 10 || !hasPrefix(b[n:], ":AA") {
		return 0
	}
	if k := runLength(b[n+1:], isWordByte); k >= 30 {
		return n + 1 + k
	}
	return 0
}

// discordTokenLength returns how long the token of a Discord bot is that b begins with: its id, a
// time and a signature, in base64; 0 if it is none.
func discordTokenLength(b []byte) int {
	id := runLength(b, isWordByte)
	if id < 23 || id > 28 || id+8 > len(b) || b[id] != '.' {
		return 0
	}
	at := runLength(b[id+1:], isWordByte)
	if at < 6 || at > 7 || id+1+at >= len(b) || b[id+1+at] != '.' {
		return 0
	}
	if k := runLength(b[id+at+2:], isWordByte); k >= 27 {
		return id + at + 2 + k
	}
	return 0
}

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
	{"AIza", 30, word}, {"ya29.", 20, word}, {"GOCSPX-", 20, word}, {"1//0", 30, word}, // Google
	{"A3T", 17, upper}, {"ABIA", 16, upper}, {"ACCA", 16, upper}, {"AROA", 16, upper}, {"AIDA", 16, upper}, {"amzn.mws.", 30, word}, // AWS
	{"LTAI", 12, alnum}, {"AKID", 28, alnum}, // Alibaba, Tencent
	{"sk-", 20, word}, {"sess-", 30, alnum}, {"gsk_", 20, alnum}, {"xai-", 20, alnum}, {"pplx-", 20, alnum}, {"r8_", 20, alnum}, {"hf_", 20, alnum}, {"lsv2_", 20, word},
	{"sk_test_", 16, alnum}, {"rk_test_", 16, alnum}, {"pk_live_", 16, alnum}, {"pk_test_", 16, alnum}, {"whsec_", 16, word}, // Stripe
	{"npm_", 30, alnum}, {"pypi-", 30, word}, {"rubygems_", 30, alnum}, {"dckr_pat_", 20, word}, {"CLOJARS_", 30, alnum}, {"oy2", 40, alnum}, {"cio", 30, alnum},
	{"dop_v1_", 30, alnum}, {"doo_v1_", 30, alnum}, {"dor_v1_", 30, alnum}, // DigitalOcean
	{"shpat_", 20, alnum}, {"shpss_", 20, alnum}, {"shpca_", 20, alnum}, {"shppa_", 20, alnum}, // Shopify
	{"SG.", 40, dotted}, {"key-", 32, hexadecimal}, {"xkeysib-", 30, word}, {"xsmtpsib-", 30, word}, {"mlsn.", 30, word}, {"re_", 24, word}, {"pubkey-", 32, hexadecimal}, // mail
	{"AC", 32, hexadecimal}, {"SK", 32, hexadecimal}, // Twilio
	{"xoxe-", 10, word}, {"xoxe.", 10, dotted}, {"xoxr-", 10, word}, {"xapp-", 10, word}, // Slack
	{"glptt-", 16, word}, {"gldt-", 16, word}, {"glrt-", 16, word}, {"glcbt-", 16, word}, {"glft-", 16, word}, {"glsoat-", 16, word}, {"GR1348941", 16, word}, // GitLab
	{"lin_api_", 20, alnum}, {"ntn_", 20, alnum}, {"secret_", 32, alnum}, {"figd_", 20, word}, {"PMAK-", 20, word}, {"CFPAT-", 20, word}, {"ATATT3", 20, dotted}, {"ATBB", 24, alnum}, {"ATCTT3", 20, dotted},
	{"sq0atp-", 20, word}, {"sq0csp-", 20, word}, {"sq0idp-", 20, word}, {"EAAA", 40, word}, {"rzp_live_", 10, alnum}, {"rzp_test_", 10, alnum}, {"EZAK", 40, alnum}, {"EZTK", 40, alnum}, {"duffel_live_", 20, word}, {"access_token$production$", 20, word},
	{"dapi", 32, hexadecimal}, {"hvs.", 20, word}, {"hvb.", 20, word}, {"hvr.", 20, word}, {"pul-", 40, hexadecimal}, {"dp.pt.", 30, alnum}, {"dp.st.", 30, dotted}, {"dp.ct.", 30, alnum}, {"tskey-", 16, word}, {"ops_ey", 40, word},
	{"NRAK-", 20, alnum}, {"NRJS-", 16, alnum}, {"NRII-", 20, word}, {"dt0c01.", 40, dotted}, {"glc_", 30, dotted}, {"glsa_", 30, word}, {"sntrys_", 30, word}, {"sntryu_", 30, alnum}, {"phc_", 30, alnum}, {"phx_", 30, alnum}, {"sgp_", 30, word},
	{"AGE-SECRET-KEY-1", 30, upper}, {"AKCp", 40, alnum}, {"bkua_", 30, alnum}, {"CCIPAT_", 30, word}, {"nfp_", 30, alnum}, {"fo1_", 30, word}, {"fm1r_", 30, word}, {"fm2_", 30, word}, {"sbp_", 30, alnum}, {"pscale_tkn_", 30, word}, {"pscale_pw_", 30, word}, {"pscale_oauth_", 30, word},
	{"EAACEdEose0cBA", 10, alnum}, {"IGQV", 30, word}, {"waka_", 30, word}, {"sl.", 60, word}, {"v1.0-", 100, word}, {"tfp_", 30, word}, {"HRKU-", 30, word}, {"ico-", 30, alnum},
}

// byFirst finds vendors by the first byte.
var byFirst = func() (t [256][]int) {
	for i, v := range vendors {
		t[v.prefix[0]] = append(t[v.prefix[0]], i)
	}
	return t
}()

func hexadecimal(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// vendor returns how long the key is that a word begins with, 0 if it is none.
func vendor(b []byte) int {
	for _, i := range byFirst[b[0]] {
		v := &vendors[i]
		if len(b) < 2 || b[1] != v.prefix[1] || !begins(b, v.prefix) {
			continue
		}
		n := run(b[len(v.prefix):], v.of)
		if n >= v.least && drawn(b[len(v.prefix):len(v.prefix)+n]) {
			return len(v.prefix) + n
		}
	}
	switch {
	case digit(b[0]):
		return bot(b)
	case len(b) >= 59 && strings.IndexByte("MNO", b[0]) >= 0:
		return signed(b)
	}
	return 0
}

// drawn says whether what follows a beginning may have been drawn at random: names
// of things have no digits, or only few at the end.
func drawn(b []byte) bool {
	var upper, lower bool
	for _, c := range b {
		upper, lower = upper || 'A' <= c && c <= 'Z', lower || 'a' <= c && c <= 'z'
	}
	n := digitsIn(b)
	return n >= 2 || n == 1 && (len(b) < 20 || upper && lower) || len(b) >= 30
}

// bot is a token of a Telegram bot: 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw.
func bot(b []byte) int {
	n := run(b, digit)
	if n < 8 || n > 10 || !begins(b[n:], ":AA") {
		return 0
	}
	if k := run(b[n+1:], word); k >= 30 {
		return n + 1 + k
	}
	return 0
}

// signed is a token of a Discord bot: its id, a time and a signature, in base64.
func signed(b []byte) int {
	id := run(b, word)
	if id < 23 || id > 28 || id+8 > len(b) || b[id] != '.' {
		return 0
	}
	at := run(b[id+1:], word)
	if at < 6 || at > 7 || id+1+at >= len(b) || b[id+1+at] != '.' {
		return 0
	}
	if k := run(b[id+at+2:], word); k >= 27 {
		return id + at + 2 + k
	}
	return 0
}

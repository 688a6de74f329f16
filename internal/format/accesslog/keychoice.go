package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// keyStats are the values of one key in the sample.
type keyStats struct {
	key                                        string
	first                                      int // order of appearance
	n, moments, statuses, units, texts, blanks int
	requests, methods, paths                   int
	resolution                                 int64
	zoned                                      bool
	numbers                                    []reading
}

const maxKeys = 400

func (s *keyStats) addPair(p *pair) {
	v := p.unescapedValue()
	s.n++
	if len(v) == 0 || string(v) == "-" || string(v) == "null" {
		s.blanks++
		return
	}
	if p.kind == list {
		return
	}
	if m, ok := parseMoment(trimBrackets(v)); ok {
		s.moments++
		if s.resolution == 0 || m.resolution < s.resolution {
			s.resolution = m.resolution
		}
		s.zoned = s.zoned || m.zoned
	}
	if statusOf(v) >= 0 {
		s.statuses++
	}
	if d, n := parseDecimal(v); n > 0 && n == len(v) {
		s.numbers = append(s.numbers, reading{v: d})
	} else if ns, ok := (measure{unit: 1e9}).parseDuration(v); ok { // a list of upstreams
		s.numbers = append(s.numbers, reading{v: decimal{ns / 1e6, 3}})
	} else if _, ok := parseWithUnit(v); ok {
		s.units++
	}
	if p.kind == text || len(s.numbers) == 0 {
		s.texts++
	}
	if _, _, ok := parseRequest(v); ok {
		s.requests++
	}
	if isMethod(v) {
		s.methods++
	}
	if v[0] == '/' {
		s.paths++
	}
}

// isNearlyAll says whether n is at least 90 % of the values that are not blank.
func (s *keyStats) isNearlyAll(n int) bool { return n > 0 && n*10 >= (s.n-s.blanks)*9 }

func (k *keyed) chooseTime(l *layout, keys []*keyStats) bool {
	var best *keyStats
	bestRank := 0
	for _, s := range keys {
		rank, stamp := rankOf(s.key, startKeys), evidence.StampStart
		if rank < 0 {
			rank, stamp = rankOf(s.key, timeKeys), evidence.StampCompletion
			if rank >= 0 {
				rank += len(startKeys)
			}
		}
		if rank < 0 || !s.isNearlyAll(s.moments) {
			continue
		}
		better := best == nil || s.resolution < best.resolution || s.resolution == best.resolution && rank < bestRank
		// A timestamp that a log collector added to some lines is not the line's own.
		if better && (best == nil || s.n*2 >= best.n) || best != nil && s.n > 2*best.n {
			best, bestRank, l.stamp = s, rank, stamp
		}
	}
	if best == nil {
		return false
	}
	l.resolution, l.zoned = best.resolution, best.zoned
	k.addKey(roleTime, best.key)
	l.fields = append(l.fields, fmt.Sprintf("time %s: %v, %s", best.key, time.Duration(l.resolution), stampName(l.stamp)))
	return true
}

func (k *keyed) chooseDuration(l *layout, keys []*keyStats) {
	key, m, assumed, why := pickDuration(withoutParts(keys), durationKeys)
	if key == nil {
		return
	}
	l.timed, k.timed, k.duration = true, true, m
	k.addKey(roleDuration, key.key)
	l.fields = append(l.fields, fmt.Sprintf("duration %s: %s", key.key, unitName(m.unit)))
	if assumed {
		l.notes = append(l.notes, fmt.Sprintf("read %q as %s (%s): log it with its unit, as %s_ms, to be sure", key.key, unitName(m.unit), why, strings.TrimSuffix(toSnakeCase(key.key), "_")))
	}
	if up, um, _, _ := pickDuration(keys, upstreamKeys); up != nil {
		if assumed {
			um = measure{unit: m.unit}
		}
		k.upstream = um
		k.addKey(roleUpstream, up.key)
		l.proxy = true
		l.fields = append(l.fields, fmt.Sprintf("upstream %s: %s", up.key, unitName(um.unit)))
		if c, cm, _, _ := pickDuration(keys, connectKeys); c != nil {
			if assumed {
				cm = measure{unit: m.unit}
			}
			k.connect = cm
			k.addKey(roleConnect, c.key)
			l.fields = append(l.fields, fmt.Sprintf("connecting %s: %s", c.key, unitName(cm.unit)))
		}
		if envoyPart(keys, "request_duration") && envoyPart(keys, "response_tx_duration") {
			k.addKey(roleReading, "request_duration")
			k.addKey(roleSending, "response_tx_duration")
		}
	}
}

// hasRole says whether a key has a role already.
func (k *keyed) hasRole(r role) bool {
	return slices.ContainsFunc(k.want, func(w wantedKey) bool { return w.role == r })
}

// pickDuration chooses a key that names its unit, by name or by value, else the
// best known name.
func pickDuration(keys []*keyStats, list []string) (best *keyStats, m measure, assumed bool, why string) {
	bestRank := 0
	for _, s := range keys {
		rank, unit := durationKey(s.key, list)
		if rank < 0 {
			continue
		}
		candidate := measure{unit: unit}
		guessed, reason := false, ""
		switch {
		case s.isNearlyAll(s.units):
			candidate.unit = 0
		case !s.isNearlyAll(len(s.numbers)):
			continue
		case unit != unitUnknown:
		case secondsByForm(s.numbers):
			candidate.unit = 1e9
		default:
			g := guessKeyed(s.numbers)
			candidate.unit, guessed, reason = g.unit, true, g.why
		}
		if guessed {
			rank += 1000
		}
		if best == nil || rank < bestRank {
			best, bestRank, m, assumed, why = s, rank, candidate, guessed, reason
		}
	}
	return best, m, assumed, why
}

func (k *keyed) chooseRequest(l *layout, keys []*keyStats) {
	pick := func(list []string, fits func(*keyStats) bool) *keyStats {
		var best *keyStats
		bestRank := 0
		for _, s := range keys {
			if r := rankOf(s.key, list); r >= 0 && fits(s) && (best == nil || r < bestRank) {
				best, bestRank = s, r
			}
		}
		return best
	}
	anything := func(s *keyStats) bool { return s.isNearlyAll(s.texts) && s.isNearlyAll(s.n-s.blanks) }
	for _, c := range []struct {
		role role
		list []string
		fits func(*keyStats) bool
		http bool
	}{
		{roleRequest, requestKeys, func(s *keyStats) bool { return s.requests*2 > s.n }, true},
		{roleMethod, methodKeys, func(s *keyStats) bool { return s.isNearlyAll(s.methods) }, true},
		{rolePath, pathKeys, anything, true},
		{rolePath, []string{"request"}, func(s *keyStats) bool { return s.isNearlyAll(s.paths) && !k.hasRole(rolePath) }, true},
		{roleStatus, statusKeys, func(s *keyStats) bool { return s.isNearlyAll(s.statuses) }, true},
		{roleRPC, rpcKeys, anything, true},
		{roleService, serviceKeys, anything, true},
		{roleCode, codeKeys, anything, true},
		{rolePeer, peerKeys, anything, false},
		{roleKey, traceKeys, anything, false},
		{roleFlags, flagKeys, anything, false},
	} {
		s := pick(c.list, c.fits)
		if s == nil || slices.ContainsFunc(k.want, func(w wantedKey) bool { return string(w.key) == s.key }) {
			continue
		}
		k.addKey(c.role, s.key)
		l.http = l.http || c.http
		l.proxy = l.proxy || c.role == roleFlags
		if c.role != rolePeer && c.role != roleKey && c.role != roleFlags {
			l.fields = append(l.fields, [numRoles]string{roleRequest: "request", roleMethod: "method", rolePath: "path", roleStatus: "status",
				roleRPC: "rpc", roleService: "service", roleCode: "code"}[c.role]+" "+s.key)
		}
	}
	for _, s := range keys {
		if name := toSnakeCase(s.key); (name == "msg" || name == "message") && s.requests > 0 {
			l.http = true
		}
	}
}

package metrics

import (
	"strconv"
	"strings"
)

// RedisRelease is the product and version of a server, of Redis or a fork of it.
type RedisRelease struct {
	Product             string // "Redis", "Valkey", "KeyDB"; "" unknown
	Major, Minor, Patch int
}

// RedisReleaseOf parses a version as evidence has it: "Redis 7.0.15", "Valkey 8.1.2".
func RedisReleaseOf(version string) (r RedisRelease) {
	product, number, ok := strings.Cut(version, " ")
	if !ok {
		product, number = "Redis", version
	}
	parts := strings.SplitN(number, ".", 3)
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return RedisRelease{}
	}
	r.Product, r.Major = product, major
	for i, to := range []*int{&r.Minor, &r.Patch} {
		if i+1 < len(parts) {
			*to, _ = strconv.Atoi(leadingDigits(parts[i+1]))
		}
	}
	return r
}

// leadingDigits returns the digits that a text begins with: "0" of "0-rc1".
func leadingDigits(s string) string {
	if i := strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }); i >= 0 {
		return s[:i]
	}
	return s
}

// AtLeast reports whether the server has the features of a Redis release: Valkey began as Redis 7.2, KeyDB 6 as Redis 6.2.
// False where unknown.
func (r RedisRelease) AtLeast(major, minor int) bool {
	has := [2]int{r.Major, r.Minor}
	switch r.Product {
	case "":
		return false
	case "Valkey":
		has = [2]int{7, 2}
	case "KeyDB":
		has = [2]int{6, 2}
	}
	return has[0] > major || has[0] == major && has[1] >= minor
}

// String returns "Valkey 8.1.2", "" if unknown.
func (r RedisRelease) String() string {
	if r.Product == "" {
		return ""
	}
	return r.Product + " " + strconv.Itoa(r.Major) + "." + strconv.Itoa(r.Minor) + "." + strconv.Itoa(r.Patch)
}

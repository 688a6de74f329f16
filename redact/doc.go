// Package redact takes secrets out of what is stored: log lines, command lines,
// URLs, environments.
//
// It knows them by name (password=, "token":, Authorization:, --api-key), by
// place (user:pass@host, query parameters) and by looks (JSON web tokens, keys of
// AWS, GitHub, GitLab, Slack, Stripe, PEM private keys), and puts [redacted]
// where they were. Everything else stays byte for byte: a log without secrets is
// the same log, and one with secrets parses as before.
//
// The package's opinion: names that mean secrets and nothing else ("password",
// and what ends in it) count wherever they stand; names that often mean something
// else ("key", "code", "session") count in the query of a URL, as a JSON field
// and with long values only, so that status codes and cache keys stay. A secret
// without a name that looks like any other word is not found: what can be left
// out altogether, such as an environment, is left out but for a closed list.
package redact

// Mark stands where a secret was. It holds nothing that ends a field of a log,
// a JSON string or a URL.
const Mark = "[redacted]"

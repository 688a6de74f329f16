// Package redact takes secrets out of what is stored: log lines, command lines,
// URLs, environments.
//
// It knows them by name (password=, "token":, Authorization:, --api-key), by
// place (user:pass@host, values in queries, what follows /invite/) and by looks
// (JSON web tokens, keys as vendors form them, PEM private keys, e-mail addresses,
// numbers of cards), and puts [redacted] where they were, {id} in a path. Everything else
// stays byte for byte: a log without secrets is the same log, and one with secrets
// parses as before, its requests of the same routes.
//
// How far it goes depends on what a text is: [Line] is for logs, [Value] for what
// programs name at run time (threads, labels, tasks), [Command] for the command lines
// of others, [Env] for environments. Data whose lengths must stay is overwritten by
// asterisks ([Overwrite], [OverwriteValue]).
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

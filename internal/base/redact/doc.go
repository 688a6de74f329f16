// Package redact removes secrets from what is stored: log lines, command lines, URLs, environments.
//
// It recognises secrets by name (password=, "token":, Authorization:, --api-key), by place (user:pass@host, values in queries, what follows
// /invite/) and by form (JSON web tokens, vendors' keys, PEM private keys, e-mail addresses, card numbers). It replaces them by "[redacted]",
// and by {id} in a path. Everything else stays byte for byte: a log without secrets is unchanged, and a log with secrets parses as before,
// with the same routes.
//
// The kind of text decides how far it goes: [Line] is for logs, [Value] for names that programs give at run time (threads, labels, tasks),
// [Command] for foreign command lines, [Env] for environments. Data whose lengths must stay is overwritten with asterisks ([Overwrite],
// [OverwriteValue]).
//
// The package's opinion: names that always mean secrets ("password", and what ends in it) count everywhere. Names that often mean something
// else ("key", "code", "session") count only in the query of a URL, as a JSON field and with long values, so that status codes and cache
// keys stay. A secret without a name that looks like any other word is not found: therefore a text that can be omitted completely, such as
// an environment, is omitted except for a closed list.
package redact

// Mark replaces a secret. It has no character that ends a log's field, a JSON string or a URL.
const Mark = "[redacted]"

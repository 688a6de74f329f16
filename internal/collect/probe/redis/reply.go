package redis

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// writeAnswer writes an answer as redis-cli does on a terminal.
func writeAnswer(b *bytes.Buffer, v any, indent string) {
	switch x := v.(type) {
	case nil:
		b.WriteString("(nil)\n")
	case int64:
		fmt.Fprintf(b, "(integer) %d\n", x)
	case string:
		b.WriteString(quoteText(x) + "\n")
	case []any:
		if len(x) == 0 {
			b.WriteString("(empty array)\n")
			return
		}
		width := len(strconv.Itoa(len(x)))
		inner := indent + strings.Repeat(" ", width+2)
		for i, item := range x {
			if i > 0 {
				b.WriteString(indent)
			}
			fmt.Fprintf(b, "%*d) ", width, i+1)
			writeAnswer(b, item, inner)
		}
	case error:
		text, _, _ := strings.Cut(x.Error(), "\n")
		b.WriteString("(error) " + text + "\n")
	default:
		fmt.Fprintf(b, "%q\n", fmt.Sprint(x))
	}
}

// quoteText quotes a text as sdscatrepr of src/sds.c does.
func quoteText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// redactSlowEntry returns an entry of SLOWLOG without what its client asked for: of arguments only
// their lengths, except the subcommand of a container command, and which script or function ran.
func redactSlowEntry(entry any) any {
	e, ok := entry.([]any)
	if !ok || len(e) < 4 {
		return entry
	}
	e = append([]any(nil), e...)
	if args, ok := e[3].([]any); ok {
		e[3] = redactArguments(args)
	}
	if len(e) > 5 && e[5] != own {
		e[5] = ""
	}
	return e
}

// named are commands whose first argument is no client's secret.
var named = map[string]bool{"SLOWLOG": true, "LATENCY": true, "CLIENT": true, "MEMORY": true, "CONFIG": true, "CLUSTER": true, "SCRIPT": true, "FUNCTION": true,
	"OBJECT": true, "XINFO": true, "XGROUP": true, "PUBSUB": true, "ACL": true, "MODULE": true, "COMMAND": true, "DEBUG": true, "SENTINEL": true, "COMMANDLOG": true,
	"EVALSHA": true, "EVALSHA_RO": true, "FCALL": true, "FCALL_RO": true}

func redactArguments(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		s := fmt.Sprint(a)
		switch {
		case i == 0:
			out[i] = s
			continue
		case i == 1 && named[strings.ToUpper(fmt.Sprint(args[0]))]:
			out[i] = s[:min(len(s), 40)]
			continue
		}
		if i == len(args)-1 && strings.HasPrefix(s, "... (") && strings.HasSuffix(s, " more arguments)") {
			out[i] = s
			continue
		}
		size := int64(len(s))
		if at := strings.LastIndex(s, "... ("); at >= 0 && strings.HasSuffix(s, " more bytes)") { // src/slowlog.c cuts at 128 bytes
			if n, err := strconv.ParseInt(s[at+5:len(s)-len(" more bytes)")], 10, 64); err == nil {
				size = n + int64(at)
			}
		}
		out[i] = fmt.Sprintf("(%d bytes)", size)
	}
	return out
}

// redactClients returns CLIENT LIST without names: of clients, their libraries and users.
func redactClients(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for f := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(f, "=")
			switch name {
			case "user", "lib-name", "lib-ver", "redir", "fd", "laddr":
				continue
			case "name":
				if value != own {
					f = "name="
				}
			}
			b.WriteString(f + " ")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// redactInfo returns INFO without fields that are not needed, such as where its files are.
func redactInfo(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "config_file", "redis_git_sha1", "redis_build_id", "master_replid", "master_replid2", "master_host", "run_id":
			continue
		}
		b.WriteString(strings.TrimRight(line, "\r\n") + "\n")
	}
	return b.String()
}

package notify

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Forms are those that are known, the generic one first. Where a service has addresses of its own, these tell its form.
var Forms = []Form{
	// The line of the log as it is (docs/json.md, unstall.event/v1), with the host.
	{Name: "json", Encode: generic, Bearer: true},
	// https://api.slack.com/messaging/webhooks
	{Name: "slack", Encode: slack, host: func(u *url.URL) bool { return u.Hostname() == "hooks.slack.com" }},
	// https://developers.mattermost.com/integrate/webhooks/incoming/: Slack's, with Markdown of its own
	{Name: "mattermost", Encode: mattermost, host: func(u *url.URL) bool {
		return strings.HasPrefix(u.Path, "/hooks/") && u.Hostname() != "hooks.slack.com"
	}},
	// https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook: a workflow takes an adaptive card
	{Name: "teams", Encode: teams, host: func(u *url.URL) bool {
		h := u.Hostname()
		return strings.HasSuffix(h, ".logic.azure.com") || strings.HasSuffix(h, ".webhook.office.com") || strings.HasSuffix(h, ".powerplatform.com")
	}},
	// https://opentelemetry.io/docs/specs/otlp/#otlphttp, logs in the JSON encoding
	{Name: "otlp", Encode: otlp, Bearer: true, host: func(u *url.URL) bool { return strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1/logs") }},
	// https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
	{Name: "alertmanager", Encode: alertmanager, Bearer: true, host: func(u *url.URL) bool { return strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v2/alerts") }},
}

// Names are those of the forms.
func Names() (names []string) {
	for _, f := range Forms {
		names = append(names, f.Name)
	}
	return names
}

// generic is the line of the log, and whose it is.
func generic(e Event) []byte {
	var line map[string]any
	if json.Unmarshal(e.Line, &line) != nil {
		return nil
	}
	line["host"] = e.Host
	return encode(line)
}

// sign is what shows at a glance how grave it is.
func sign(e Event) string {
	switch {
	case e.Kind == "resolved":
		return "✅"
	case e.Kind == "diagnosis":
		return "🔎"
	case e.Severity == "page":
		return "🔴"
	}
	return "🟡"
}

// who is the service and its host.
func who(e Event) string {
	if e.Service == e.Host {
		return e.Host
	}
	return e.Service + " on " + e.Host
}

// next is what to do: the command that shows the capture, or where to look.
func next(e Event) (text, command string) {
	if e.Capture != "" {
		return "", "unstall " + e.Capture
	}
	return e.Look, ""
}

// slack writes its mrkdwn, in which three characters are escaped.
func slack(e Event) []byte {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	text := sign(e) + " *" + escape(who(e)) + "*: " + escape(e.Text)
	look, command := next(e)
	if look != "" {
		text += "\nlook at: " + escape(look)
	}
	if command != "" {
		text += "\n`" + escape(command) + "`"
	}
	return encode(map[string]any{"text": text})
}

// mattermost writes Markdown.
func mattermost(e Event) []byte {
	text := sign(e) + " **" + markdown(who(e)) + "**: " + markdown(e.Text)
	look, command := next(e)
	if look != "" {
		text += "\nlook at: " + markdown(look)
	}
	if command != "" {
		text += "\n```\n" + strings.ReplaceAll(command, "`", "") + "\n```"
	}
	return encode(map[string]any{"username": "unstall", "text": text})
}

// markdown escapes what would be markup, and keeps a name from calling a whole channel.
func markdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "~", `\~`, "|", `\|`, "#", `\#`, "@", "@\u200b").Replace(s)
}

// teams writes an adaptive card.
func teams(e Event) []byte {
	body := []map[string]any{
		{"type": "TextBlock", "size": "Medium", "weight": "Bolder", "wrap": true, "text": sign(e) + " " + markdown(who(e))},
		{"type": "TextBlock", "wrap": true, "text": markdown(e.Text)},
	}
	look, command := next(e)
	if look != "" {
		body = append(body, map[string]any{"type": "TextBlock", "wrap": true, "isSubtle": true, "text": "look at: " + markdown(look)})
	}
	if command != "" {
		body = append(body, map[string]any{"type": "TextBlock", "wrap": true, "fontType": "Monospace", "text": markdown(command)})
	}
	card := map[string]any{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	return encode(map[string]any{"type": "message", "attachments": []map[string]any{{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}}})
}

// lasts is until when Alertmanager takes an alarm for open that nobody says has ended.
const lasts = 24 * time.Hour

// alertmanager posts an alert with a rule's labels; a diagnosis adds to none, as it would be one more alert.
func alertmanager(e Event) []byte {
	if e.Kind == "diagnosis" {
		return nil
	}
	since := e.Since
	if since.IsZero() {
		since = e.Time
	}
	labels := map[string]string{"alertname": e.Rule, "service": e.Service, "host": e.Host, "instance": e.Target}
	if e.Severity != "" {
		labels["severity"] = e.Severity
	}
	notes := map[string]string{"summary": e.Text}
	if e.Look != "" {
		notes["description"] = "look at: " + e.Look
	}
	alert := map[string]any{"labels": labels, "annotations": notes, "startsAt": since.UTC().Format(time.RFC3339Nano), "endsAt": e.Time.Add(lasts).UTC().Format(time.RFC3339Nano)}
	if e.Kind == "resolved" {
		alert["endsAt"] = e.Time.UTC().Format(time.RFC3339Nano)
	}
	return encode([]any{alert})
}

// otlp is a log record with an event's name. Attributes have the names of the semantic conventions where there are any
// (https://opentelemetry.io/docs/specs/semconv/): service.name, host.name.
func otlp(e Event) []byte {
	type object = map[string]any
	attributes := func(pairs ...string) (all []object) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				all = append(all, object{"key": pairs[i], "value": object{"stringValue": pairs[i+1]}})
			}
		}
		return all
	}
	number, name := 9, "INFO" // https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber
	if e.Kind == "alarm" {
		switch e.Severity {
		case "page":
			number, name = 17, "ERROR"
		case "warn":
			number, name = 13, "WARN"
		}
	}
	record := object{"timeUnixNano": strconv.FormatInt(e.Time.UnixNano(), 10), "observedTimeUnixNano": strconv.FormatInt(e.Time.UnixNano(), 10), "severityNumber": number, "severityText": name,
		"eventName": "unstall." + e.Kind, "body": object{"stringValue": e.Text},
		"attributes": attributes("unstall.rule", e.Rule, "unstall.cause", e.Cause, "unstall.target", e.Target, "unstall.capture", e.Capture, "unstall.look", e.Look)}
	return encode(object{"resourceLogs": []object{{
		"resource":  object{"attributes": attributes("service.name", e.Service, "host.name", e.Host)},
		"scopeLogs": []object{{"scope": object{"name": "unstall"}, "logRecords": []object{record}}},
	}}})
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // of texts and maps: cannot happen
	}
	return b
}

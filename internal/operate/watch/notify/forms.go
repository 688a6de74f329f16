package notify

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Forms are the known forms, the generic one first. If a service has addresses of its own, they identify its form.
var Forms = []Form{
	// The unchanged line of the log (docs/json.md, unstall.event/v1), with the host.
	{Name: "json", Encode: encodeGeneric, Bearer: true},
	// https://api.slack.com/messaging/webhooks
	{Name: "slack", Encode: encodeSlack, host: func(u *url.URL) bool { return u.Hostname() == "hooks.slack.com" }},
	// https://developers.mattermost.com/integrate/webhooks/incoming/: Slack's, with Markdown of its own
	{Name: "mattermost", Encode: encodeMattermost, host: func(u *url.URL) bool {
		return strings.HasPrefix(u.Path, "/hooks/") && u.Hostname() != "hooks.slack.com"
	}},
	// https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook: a workflow takes an adaptive card
	{Name: "teams", Encode: encodeTeams, host: func(u *url.URL) bool {
		h := u.Hostname()
		return strings.HasSuffix(h, ".logic.azure.com") || strings.HasSuffix(h, ".webhook.office.com") || strings.HasSuffix(h, ".powerplatform.com")
	}},
	// https://opentelemetry.io/docs/specs/otlp/#otlphttp, logs in the JSON encoding
	{Name: "otlp", Encode: encodeOTLP, Bearer: true, host: func(u *url.URL) bool { return strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1/logs") }},
	// https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
	{Name: "alertmanager", Encode: encodeAlertmanager, Bearer: true, host: func(u *url.URL) bool { return strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v2/alerts") }},
}

// Names returns the names of the forms.
func Names() (names []string) {
	for _, f := range Forms {
		names = append(names, f.Name)
	}
	return names
}

// encodeGeneric returns the line of the log with the host's name.
func encodeGeneric(e Event) []byte {
	var line map[string]any
	if json.Unmarshal(e.Line, &line) != nil {
		return nil
	}
	line["host"] = e.Host
	return encodeJSON(line)
}

// severitySign returns a sign that shows the severity of an event at a glance.
func severitySign(e Event) string {
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

// formatSubject returns the service and its host.
func formatSubject(e Event) string {
	if e.Service == e.Host {
		return e.Host
	}
	return e.Service + " on " + e.Host
}

// nextStep returns what to do next: where to look, or the command that shows the capture.
func nextStep(e Event) (text, command string) {
	if e.Capture != "" {
		return "", "unstall " + e.Capture
	}
	return e.Look, ""
}

// encodeSlack returns a message in Slack's mrkdwn, in which three characters are escaped.
func encodeSlack(e Event) []byte {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	text := severitySign(e) + " *" + escape(formatSubject(e)) + "*: " + escape(e.Text)
	look, command := nextStep(e)
	if look != "" {
		text += "\nlook at: " + escape(look)
	}
	if command != "" {
		text += "\n`" + escape(command) + "`"
	}
	return encodeJSON(map[string]any{"text": text})
}

// encodeMattermost returns a message in Markdown.
func encodeMattermost(e Event) []byte {
	text := severitySign(e) + " **" + escapeMarkdown(formatSubject(e)) + "**: " + escapeMarkdown(e.Text)
	look, command := nextStep(e)
	if look != "" {
		text += "\nlook at: " + escapeMarkdown(look)
	}
	if command != "" {
		text += "\n```\n" + strings.ReplaceAll(command, "`", "") + "\n```"
	}
	return encodeJSON(map[string]any{"username": "unstall", "text": text})
}

// escapeMarkdown escapes markup, and @ so that a name does not notify a whole channel.
func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "~", `\~`, "|", `\|`, "#", `\#`, "@", "@\u200b").Replace(s)
}

// encodeTeams returns an adaptive card.
func encodeTeams(e Event) []byte {
	body := []map[string]any{
		{"type": "TextBlock", "size": "Medium", "weight": "Bolder", "wrap": true, "text": severitySign(e) + " " + escapeMarkdown(formatSubject(e))},
		{"type": "TextBlock", "wrap": true, "text": escapeMarkdown(e.Text)},
	}
	look, command := nextStep(e)
	if look != "" {
		body = append(body, map[string]any{"type": "TextBlock", "wrap": true, "isSubtle": true, "text": "look at: " + escapeMarkdown(look)})
	}
	if command != "" {
		body = append(body, map[string]any{"type": "TextBlock", "wrap": true, "fontType": "Monospace", "text": escapeMarkdown(command)})
	}
	card := map[string]any{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	return encodeJSON(map[string]any{"type": "message", "attachments": []map[string]any{{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}}})
}

// lasts is how long Alertmanager keeps an alarm open without word that it has ended.
const lasts = 24 * time.Hour

// encodeAlertmanager returns an alert with a rule's labels. It returns nil for a diagnosis, which would be another alert.
func encodeAlertmanager(e Event) []byte {
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
	return encodeJSON([]any{alert})
}

// encodeOTLP returns a log record with an event's name. Attributes have the names of the semantic conventions if there
// are any (https://opentelemetry.io/docs/specs/semconv/): service.name, host.name.
func encodeOTLP(e Event) []byte {
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
	return encodeJSON(object{"resourceLogs": []object{{
		"resource":  object{"attributes": attributes("service.name", e.Service, "host.name", e.Host)},
		"scopeLogs": []object{{"scope": object{"name": "unstall"}, "logRecords": []object{record}}},
	}}})
}

func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // cannot happen: it has only texts and maps
	}
	return b
}

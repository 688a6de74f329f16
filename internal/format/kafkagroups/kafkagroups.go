// Package kafkagroups reads how far consumers of Kafka are behind, as kafka-consumer-groups --describe prints it:
//
//	GROUP  TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST          CLIENT-ID
//	index  storage-events  0          22922           22922           0    consumer-1   /10.42.2.77   consumer-1
//
// https://kafka.apache.org/documentation/#basic_ops_consumer_group, Kafka 0.9 to 4; GROUP stands there since 2.0. One look shows how many messages wait, and not
// whether their number grows: there is no verdict.
package kafkagroups

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a table.
var Format = format.Format{
	Name:  "kafka-groups",
	About: "how far consumers of Kafka are behind: kafka-consumer-groups --describe",
	Match: func(head []byte) format.Confidence {
		if bytes.Contains(head, []byte("LOG-END-OFFSET")) {
			for l := range bytes.Lines(head) {
				if _, ok := columnsOf(string(l[:min(len(l), mostLine)])); ok {
					return format.Sure
				}
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

const (
	mostLine   = 4096
	mostTopics = 10_000
	mostName   = 250
	mostShown  = 30
)

// columns are those of the topic, of the lag and of the consumer.
type columns struct{ topic, lag, consumer int }

func columnsOf(text string) (c columns, ok bool) {
	f := strings.Fields(text)
	c = columns{slices.Index(f, "TOPIC"), slices.Index(f, "LAG"), slices.Index(f, "CONSUMER-ID")}
	return c, c.topic >= 0 && c.lag > c.topic && slices.Contains(f, "LOG-END-OFFSET")
}

// topic is a topic of a group.
type topic struct {
	name             string
	partitions, idle int64 // idle: of those without a consumer
	lag, most        int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var c columns
	inside, rows := false, 0
	by := make(map[string]*topic)
	var all []*topic
	err := a.Lines(func(l format.Line) bool {
		text := string(l.Text[:min(len(l.Text), mostLine)])
		if x, ok := columnsOf(text); ok {
			c, inside = x, true
			return true
		}
		f := strings.Fields(text)
		if !inside || len(f) <= c.lag {
			return l.Number&0xfff != 0 || ctx.Err() == nil
		}
		lag, err := strconv.ParseInt(f[c.lag], 10, 63)
		name := strings.ToValidUTF8(f[c.topic][:min(len(f[c.topic]), mostName)], "?")
		if rows++; err != nil || lag < 0 || name == "-" {
			return true
		}
		t := by[name]
		if t == nil {
			if len(all) == mostTopics {
				return true
			}
			t = &topic{name: name}
			by[name] = t
			all = append(all, t)
		}
		t.partitions++
		t.lag += min(lag, 1<<50)
		t.most = max(t.most, lag)
		if c.consumer > 0 && c.consumer < len(f) && f[c.consumer] == "-" {
			t.idle++
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, inside, "the table", "kafka-groups: no table of a group in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: "Kafka"})
	sorting.Short(all, func(x, y *topic) int { return cmp.Compare(y.lag, x.lag) })
	t := evidence.Table{Title: "messages that consumers have not read", Columns: []string{"", "lag", "most of one partition", "partitions", "without a consumer"}}
	lag := int64(0)
	for i, x := range all {
		if lag += x.lag; i < mostShown {
			t.Rows = append(t.Rows, []string{x.name, strconv.FormatInt(x.lag, 10), strconv.FormatInt(x.most, 10), strconv.FormatInt(x.partitions, 10), strconv.FormatInt(x.idle, 10)})
		}
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	if lag > 0 {
		b.Warnf(0, "messages that wait: %d; a second look a minute later tells whether the consumers keep up", lag)
	}
	return nil
}

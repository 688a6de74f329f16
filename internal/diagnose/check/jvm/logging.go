package jvm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// logger is a library for logs, whose appenders write one line after the other under a lock.
type logger struct {
	code, name string
	async      string // what writes beside the requests, and drops what there is no room for
}

var loggers = []logger{
	{"ch.qos.logback.", "Logback", "put an AsyncAppender with neverBlock=true (or a discardingThreshold) before the appender"},
	{"org.apache.logging.log4j.", "Log4j 2", "use asynchronous loggers, or an AsyncAppender with blocking=false"},
	{"org.apache.log4j.", "Log4j 1", "put an AsyncAppender with Blocking=false before the appender"},
	{"java.util.logging.", "java.util.logging", "use a handler with a queue and a thread of its own, which drops what there is no room for"},
	{"org.jboss.logmanager.", "JBoss LogManager", "put an AsyncHandler with overflow-action DISCARD before the handler"},
	{"org.tinylog.", "tinylog", "switch the writing thread on (writingthread=true)"},
}

// What says that a logger writes to standard output: System.out itself, or what a logger puts around it.
var consoles = []string{"java.io.PrintStream.", "ch.qos.logback.core.joran.spi.ConsoleTarget", "ConsoleAppender", "ConsoleHandler", "SystemOut"}

// loggedUnder returns the logging library under whose lock most threads wait in the worst thread
// dump, and its method that locks.
func loggedUnder(w *metrics.Locks) (of *logger, method string) {
	if len(w.Groups) == 0 {
		return nil, ""
	}
	g := &w.Groups[0]
	for i, f := range g.Frames {
		if g.View.User >= 0 && i >= g.View.User {
			return nil, ""
		}
		for k := range loggers {
			if strings.HasPrefix(f, loggers[k].code) {
				return &loggers[k], threadstack.Bare(threadstack.Short(f))
			}
		}
		if !strings.HasPrefix(f, "java.util.concurrent.") && !strings.HasPrefix(f, "jdk.internal.") && !strings.HasPrefix(f, "java.lang.") && !strings.HasPrefix(f, "java.io.") && !strings.HasPrefix(f, "sun.") {
			return nil, "" // another's lock, taken while it logs
		}
	}
	return nil, ""
}

// seenWriting says whether a thread was seen writing for this logger, and whether it wrote to
// standard output.
func (l *logger) seenWriting(c *check.Case) (seen, console bool) {
	samples := c.Threads().Samples(c.Subject)
	for i := range samples {
		functions := threadstack.Of(c.Bundle, samples[i].Stack).Frames
		if !slices.ContainsFunc(functions, func(f string) bool { return strings.HasPrefix(f, l.code) }) {
			continue
		}
		if !slices.ContainsFunc(functions, func(f string) bool {
			return strings.HasPrefix(f, "java.io.FileOutputStream.write") || strings.HasPrefix(f, "sun.nio.ch.FileDispatcherImpl.write")
		}) {
			continue
		}
		seen = true
		if console = console || slices.ContainsFunc(functions, func(f string) bool {
			return slices.ContainsFunc(consoles, func(w string) bool { return strings.Contains(f, w) })
		}); console {
			return true, true
		}
	}
	return seen, false
}

// describeContention rewrites the title and fixes of a contention whose lock is that of a log
// appender.
func (l *logger) describeContention(c *check.Case, k *check.Contention, method string) {
	_, console := l.seenWriting(c)
	to, reader := "its file", "find out what makes writing to it slow"
	if console {
		to, reader = "standard output", "find out why the reader of the pipe at standard output is slow"
	}
	k.Title = fmt.Sprintf("%s: it is the lock of %s's appender (%s), which writes one line after the other to %s.", strings.TrimSuffix(k.Title, "."), l.name, method, to)
	k.Outside = fmt.Sprintf("%s, so that requests do not wait until a line is written, and %s", l.async, reader)
	k.Shorten = k.Outside
}

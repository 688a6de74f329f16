package java

import (
	"slices"
	"strings"
)

const mostFrame = 512

// ParseFrame reads "at shop.Dao.load(Dao.java:118) ~[shop.jar:?]", the line of a stack in a log, with or without "at"; it returns the function as
// [Stable] does.
func ParseFrame(l []byte) (function string, ok bool) {
	text := strings.TrimSpace(string(l[:min(len(l), mostFrame)]))
	text = strings.TrimPrefix(text, "at ")
	open := strings.IndexByte(text, '(')
	if open <= 0 || !strings.Contains(text[open:], ")") {
		return "", false
	}
	function = text[:open]
	if strings.ContainsAny(function, " \t\"'=:,;[]{}") || !strings.Contains(function, ".") {
		return "", false
	}
	return strings.ToValidUTF8(Stable(function), "?"), true
}

// Wait is the kind of thing that a thread waits for, as its innermost function tells.
type Wait string

// What threads wait for.
const (
	NoWait  Wait = ""
	Network Wait = "wait for the network"
	Sleep   Wait = "sleep"
	Park    Wait = "wait for a lock, an event or a result"
)

// waits are innermost functions, of the JDK 5 to 25, JRockit and OpenJ9.
var waits = []struct {
	function string // a prefix
	wait     Wait
}{
	{"java.net.SocketInputStream.socketRead", Network}, {"java.net.SocketInputStream.read", Network}, {"sun.nio.ch.NioSocketImpl.", Network}, {"sun.nio.ch.SocketDispatcher.read", Network},
	{"sun.nio.ch.Net.poll", Network}, {"sun.nio.ch.Net.connect", Network}, {"java.net.PlainSocketImpl.socketConnect", Network}, {"java.net.TwoStacksPlainSocketImpl.socketConnect", Network},
	{"java.net.AbstractPlainSocketImpl.doConnect", Network}, {"java.net.Inet4AddressImpl.lookupAllHostAddr", Network}, {"java.net.Inet6AddressImpl.lookupAllHostAddr", Network},
	{"jrockit.net.SocketNativeIO.", Network}, {"java.lang.Thread.sleep", Sleep}, {"sun.misc.Unsafe.park", Park}, {"jdk.internal.misc.Unsafe.park", Park}, {"java.lang.Object.wait", Park},
}

// WaitOf returns what a thread waits for whose innermost function this is, [NoWait] of others.
func WaitOf(innermost string) Wait {
	for _, x := range waits {
		if strings.HasPrefix(innermost, x.function) {
			return x.wait
		}
	}
	return NoWait
}

// libraries are packages that wait for others' code.
var libraries = []string{"java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "jrockit.", "oracle.", "com.microsoft.sqlserver.", "com.mysql.", "org.mariadb.", "org.postgresql.", "com.ibm.", "com.zaxxer.",
	"org.apache.", "org.springframework.", "org.hibernate.", "weblogic.", "okhttp3.", "okio.", "feign.", "org.eclipse.", "net.sourceforge.jtds.",
	"io.netty.", "io.vertx.", "io.quarkus.", "io.quarkiverse.", "io.smallrye.", "io.lettuce.", "io.grpc.", "reactor.", "rx.", "io.reactivex.", "redis.", "org.redisson.", "akka.", "scala."}

// InLibrary says whether a function is of the JDK or of a library that waits for others' code.
func InLibrary(function string) bool {
	return slices.ContainsFunc(libraries, func(of string) bool { return strings.HasPrefix(function, of) })
}

package java

import "testing"

func TestFramesOfLogs(t *testing.T) {
	for in, want := range map[string]string{
		"\tat java.base@11.0.16/sun.nio.ch.NioSocketImpl.park(NioSocketImpl.java:189)": "sun.nio.ch.NioSocketImpl.park",
		"        at shop.Dao.load(Dao.java:118) ~[shop.jar:?]":                         "shop.Dao.load",
		"oracle.net.ns.Packet.receive(Unknown Source)":                                 "oracle.net.ns.Packet.receive",
		"POST /App1/jsp/test.jsp HTTP/1.1":                                             "",
		"User-Agent: Mozilla/4.0 (compatible)":                                         "",
		"java.lang.Throwable: null":                                                    "",
		"]\", which is more than the configured time (StuckThreadMaxTime) of":          "",
	} {
		if got, ok := ParseFrame([]byte(in)); got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestWaitsOfFrames(t *testing.T) {
	for in, want := range map[string]Wait{
		"java.net.SocketInputStream.socketRead0": Network, "java.lang.Thread.sleepImpl": Sleep, "jdk.internal.misc.Unsafe.park": Park,
		"sun.nio.ch.EPollArrayWrapper.epollWait": NoWait, "shop.Dao.load": NoWait,
	} {
		if got := WaitOf(in); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
	if !InLibrary("oracle.net.ns.Packet.receive") || InLibrary("shop.Dao.load") {
		t.Error("a library is told apart from the program's own code")
	}
}

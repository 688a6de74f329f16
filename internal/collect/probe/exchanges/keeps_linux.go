package exchanges

import "github.com/cilium/ebpf"

// Of the state of a connection, which is told as it is.
const (
	atSocket  = 0 // of TCP the kernel's address of it, of UNIX its cookie
	atRole    = 8
	atPhase   = 12
	atArrived = 16 // when bytes of what comes next arrived, 0: none did
	atCame    = 24 // likewise, of this exchange: its request, or of a call its answer
	atBegun   = 32 // when the process read it, or sent its call
	atFirst   = 40 // when the first of the answer was sent, or read; 0: it was not
	atLast    = 48 // likewise, of the last
	atIn      = 56
	atOut     = 60
	atThread  = 64 // that began it
	atReads   = 68
	atSends   = 72
	atFamily  = 76
	atOwnPort = 78
	atPeer    = 80
	atPort    = 96  // of the peer, in the order of the network
	atHeadLen = 98  // bytes of the head that were transferred
	atOther   = 100 // the thread that began to answer, or to read the answer

	// Of Go: the goroutines that did what atThread and atOther say; 0 unknown.
	atGoroutine      = 104
	atOtherGoroutine = 112

	atHead = 120

	answerSize = 16

	// Of a request: the first bytes of it, and of its answer.
	headSize   = 64
	atAnswer   = atHead + headSize
	serverSize = atAnswer + answerSize

	// Of a call, whose statement begins it; how a database's answer ends says what became of the transaction.
	callHead     = 128
	atCallAnswer = atHead + callHead
	atTail       = atCallAnswer + answerSize
	tailSize     = 32
	atAnswerLen  = atTail + tailSize
	atTailLen    = atAnswerLen + 2
	atMode       = atAnswerLen + 4
	atStack      = atMode + 4 // of a call: the stack that sent it, below 0 unknown
	stateSize    = atStack + 8
)

// Modes of a connection: exchanges follow one another on it, or it has the frames of HTTP/2.
const (
	modePlain  = 0
	modeFrames = 1
)

// Roles and phases of a connection.
const (
	roleServer = 1
	roleClient = 2
	roleFrame  = 3 // what is told is a frame

	roleDatagram = 4 // or a datagram

	phaseIdle     = 0
	phaseAsked    = 1
	phaseAnswered = 2
)

// Of what is kept of a UNIX connection: the process at its other end, and the name that one of its ends has. With process 0 it is
// the key of a name that the process listens at.
const (
	endProcess = 0
	endLength  = 4
	endName    = 8
	mostName   = 108 // sun_path
	endSize    = 120
)

// What is known of a name by the kernel's address of it.
const (
	nameOurs   = 1
	nameOthers = 2
)

// Of the tuning map.
const (
	tuneEvents = 0
	tuneLost   = 8
	tuneMask   = 16 // a connection counts if its number has none of these bits
	tuneFrames = 20 // some of those that were open before have frames
	tuneStacks = 24 // the stack of a call is taken if the hash of its moment has none of these bits
	tuneSize   = 32
)

// Sizes of what the kernel keeps.
const (
	mostConnections = 1 << 14
	mostProcesses   = 1 << 10
	mostMultiplexed = 1 << 10
	mostNames       = 1 << 8
	mostAddresses   = 1 << 10
	ringBytes       = 4 << 20
	mostStacks      = 1 << 12
	deepestStack    = 127 // the kernel's PERF_MAX_STACK_DEPTH
	ports           = 1 << 16
)

// keeps are the maps of the programs.
type keeps struct {
	processes, ports, states, empty, tuning, ring *ebpf.Map

	names, addresses, ends *ebpf.Map // of UNIX sockets

	sockets *ebpf.Map // of UDP, from which queries of names were sent
	stacks  *ebpf.Map // of calls

	framesIn, framesOut, emptyFrames, multiplexed *ebpf.Map // of HTTP/2
}

func newKeeps() (k *keeps, err error) {
	k = &keeps{}
	for _, m := range []struct {
		to   **ebpf.Map
		spec ebpf.MapSpec
	}{
		{&k.processes, ebpf.MapSpec{Name: "unstall_pids", Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: mostProcesses}},
		{&k.ports, ebpf.MapSpec{Name: "unstall_ports", Type: ebpf.Array, KeySize: 4, ValueSize: ports, MaxEntries: 1}},
		{&k.states, ebpf.MapSpec{Name: "unstall_conns", Type: ebpf.LRUHash, KeySize: 8, ValueSize: stateSize, MaxEntries: mostConnections}},
		{&k.empty, ebpf.MapSpec{Name: "unstall_empty", Type: ebpf.Array, KeySize: 4, ValueSize: stateSize, MaxEntries: 1}},
		{&k.tuning, ebpf.MapSpec{Name: "unstall_tuning", Type: ebpf.Array, KeySize: 4, ValueSize: tuneSize, MaxEntries: 1}},
		{&k.names, ebpf.MapSpec{Name: "unstall_names", Type: ebpf.Hash, KeySize: endSize, ValueSize: 4, MaxEntries: mostNames}},
		{&k.addresses, ebpf.MapSpec{Name: "unstall_addrs", Type: ebpf.LRUHash, KeySize: 8, ValueSize: 4, MaxEntries: mostAddresses}},
		{&k.ends, ebpf.MapSpec{Name: "unstall_ends", Type: ebpf.LRUHash, KeySize: 8, ValueSize: endSize, MaxEntries: mostConnections}},
		{&k.framesIn, ebpf.MapSpec{Name: "unstall_in", Type: ebpf.LRUHash, KeySize: 8, ValueSize: frameSize, MaxEntries: mostMultiplexed}},
		{&k.framesOut, ebpf.MapSpec{Name: "unstall_out", Type: ebpf.LRUHash, KeySize: 8, ValueSize: frameSize, MaxEntries: mostMultiplexed}},
		{&k.emptyFrames, ebpf.MapSpec{Name: "unstall_blank", Type: ebpf.Array, KeySize: 4, ValueSize: frameSize, MaxEntries: 1}},
		{&k.multiplexed, ebpf.MapSpec{Name: "unstall_multi", Type: ebpf.LRUHash, KeySize: 8, ValueSize: 4, MaxEntries: mostMultiplexed}},
		{&k.sockets, ebpf.MapSpec{Name: "unstall_udp", Type: ebpf.LRUHash, KeySize: 8, ValueSize: socketSize, MaxEntries: mostSockets}},
		{&k.stacks, ebpf.MapSpec{Name: "unstall_sites", Type: ebpf.StackTrace, KeySize: 4, ValueSize: deepestStack * 8, MaxEntries: mostStacks}},
		{&k.ring, ebpf.MapSpec{Name: "unstall_ring", Type: ebpf.RingBuf, MaxEntries: ringBytes}},
	} {
		if *m.to, err = ebpf.NewMap(&m.spec); err != nil {
			k.close()
			return nil, err
		}
	}
	return k, nil
}

func (k *keeps) close() {
	for _, m := range []*ebpf.Map{k.processes, k.ports, k.states, k.empty, k.tuning, k.names, k.addresses, k.ends, k.framesIn, k.framesOut, k.emptyFrames, k.multiplexed, k.sockets, k.stacks, k.ring} {
		if m != nil {
			_ = m.Close()
		}
	}
}

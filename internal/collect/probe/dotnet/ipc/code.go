package ipc

import "fmt"

// Code is an error of the runtime, an HRESULT.
type Code uint32

// Codes of the protocol:
// https://github.com/dotnet/diagnostics/blob/main/documentation/design-docs/ipc-protocol.md#errors
const (
	BadEncoding     Code = 0x80131384
	UnknownCommand  Code = 0x80131385
	UnknownMagic    Code = 0x80131386
	NotSupported    Code = 0x80131515
	Fail            Code = 0x80004005
	InvalidArgument Code = 0x80070057

	notYetAvailable Code = 0x8013135b
	uninitialized   Code = 0x80131371
)

var codes = map[Code]string{
	BadEncoding:     "this version expects another layout of the payload",
	UnknownCommand:  "this version does not know the command",
	UnknownMagic:    "this version does not speak DOTNET_IPC_V1",
	NotSupported:    "not supported",
	Fail:            "the command failed",
	InvalidArgument: "an argument is not valid",
}

// Error returns a text such as "this version does not know the command (0x80131385)".
func (c Code) Error() string {
	text, ok := codes[c]
	if !ok {
		text = "error"
	}
	return fmt.Sprintf("%s (%#08x)", text, uint32(c))
}

// allowsOlderForm says whether the runtime may understand the next older form of a command.
func (c Code) allowsOlderForm() bool { return c == UnknownCommand || c == BadEncoding }

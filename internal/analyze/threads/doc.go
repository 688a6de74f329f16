// Package threads says what the threads of a managed runtime do, as their stacks
// tell: which belong to the runtime's pool, what each waits for, and where in the
// user's own code it does so.
//
// Its opinion: one stack shows one moment; what counts is how many threads stand at
// the same place, and the frame named is the first that the user can change. Names
// are the field's (".Result", "lock"), never ours. Nothing is opened here: stacks
// come from a bundle's samples of type "thread", whatever file they were in. How the
// stacks of one runtime are read is one file (dotnet.go, jvm.go); the rest knows no runtime.
package threads

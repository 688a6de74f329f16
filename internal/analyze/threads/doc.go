// Package threads derives what threads of a managed runtime do from their stacks: which belong to the runtime's pool, what each waits for, and
// where in the user's own code it waits.
//
// Its opinion: one stack shows one moment; the number of threads at the same place counts, and the named frame is the first one that the user can
// change. Names are the field's (".Result", "lock"), never ours. The package opens nothing: stacks come from a bundle's samples of type "thread",
// whatever file they were in. One file reads the stacks of one runtime (dotnet.go, jvm.go); the rest knows no runtime.
package threads

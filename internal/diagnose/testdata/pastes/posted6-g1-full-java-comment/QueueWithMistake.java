/*
The collector has to follow the whole chain of nodes, and copies it each time.

Once the heap is full the JVM compacts it:

[13.204s][info][gc] GC(29) Pause Full (G1 Compaction Pause) 4093M->4004M(4096M) 1994.283ms

Set the link of a removed node to null.
*/
class QueueWithMistake {

package operations;

import java.util.concurrent.ConcurrentLinkedQueue;

/** What was answered is kept for a while, until it is written to the journal. */
final class Journal {
    private final ConcurrentLinkedQueue<Tree> kept = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Tree> free = new ConcurrentLinkedQueue<>();
    private final boolean reuse;
    private final int nodes;
    private final int details;
    private final long keep;

    Journal(Options options, int nodes) {
        this.reuse = options.reuse;
        this.nodes = nodes;
        this.details = options.details;
        this.keep = options.journal * 1_000_000L;
        Thread writer = new Thread(this::write, "journal");
        writer.setDaemon(true);
        writer.start();
    }

    /** A tree for an answer. */
    Tree tree() {
        Tree tree = free.poll();
        if (tree == null) {
            return new Tree(nodes, details);
        }
        tree.clear();
        return tree;
    }

    void keep(Tree tree) {
        tree.written = System.nanoTime();
        kept.add(tree);
    }

    private void write() {
        try {
            while (true) {
                Thread.sleep(50);
                long now = System.nanoTime();
                for (Tree t = kept.peek(); t != null && now - t.written > keep; t = kept.peek()) {
                    kept.remove();
                    if (reuse) {
                        free.add(t);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

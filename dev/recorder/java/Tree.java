/** A binary tree of small objects, as a parsed answer is. */
final class Tree {
    private Tree left;
    private Tree right;
    private final long value;

    private Tree(long value) {
        this.value = value;
    }

    static Tree of(int nodes) {
        Tree root = new Tree(nodes);
        int rest = nodes - 1;
        if (rest > 0) {
            root.left = of((rest + 1) / 2);
        }
        if (rest > 1) {
            root.right = of(rest / 2);
        }
        return root;
    }

    long depth() {
        return 1 + (left == null ? 0 : left.depth()) + (value & 1);
    }
}

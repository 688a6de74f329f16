package operations;

/** The answer: levels of nodes with what is known of each. */
final class Tree {
    static final class Node {
        int id;
        int level;
        byte[] name;
        Detail first;
    }

    static final class Detail {
        int key;
        int value;
        Detail next;
    }

    private static final int LEVELS = 4;
    private static final int BREADTH = 5;
    private static final byte[][] PARTS = {bytes("{\"id\":"), bytes(",\"name\":\""), bytes("\",\"children\":["), bytes("]}")};

    final Node[] nodes;
    private final int details;
    int size;
    long written; // when, of System.nanoTime

    Tree(int nodes, int details) {
        this.nodes = new Node[nodes];
        this.details = details;
    }

    void clear() {
        size = 0;
    }

    void add(Row row) {
        Node node = nodes[size];
        if (node == null) {
            node = nodes[size] = node();
        }
        node.id = row.id;
        node.level = level(size);
        System.arraycopy(row.name, 0, node.name, 0, node.name.length);
        int i = 0;
        for (Detail d = node.first; d != null; d = d.next) {
            d.value = row.name[i++ % Row.NAME];
        }
        size++;
    }

    private Node node() {
        Node node = new Node();
        node.name = new byte[Row.NAME - 16];
        for (int i = 0; i < details; i++) {
            Detail d = new Detail();
            d.key = i;
            d.next = node.first;
            node.first = d;
        }
        return node;
    }

    /** Nodes in the order of a walk: how deep one is below the root. */
    private static int level(int index) {
        int level = 0;
        while (level < LEVELS - 1 && index % BREADTH != 0) {
            index /= BREADTH;
            level++;
        }
        return level;
    }

    /** Writes the tree as JSON and returns how long it is. */
    int json(byte[] to) {
        int at = 0;
        int open = 0;
        boolean first = true;
        to[at++] = '[';
        for (int i = 0; i < size; i++) {
            Node node = nodes[i];
            for (int level = Math.min(node.level, open); open > level; open--) { // a child needs a parent
                at = put(to, at, PARTS[3]);
                first = false;
            }
            if (!first) {
                to[at++] = ',';
            }
            at = number(to, put(to, at, PARTS[0]), node.id);
            at = put(to, put(to, put(to, at, PARTS[1]), node.name), PARTS[2]);
            open++;
            first = true;
        }
        for (; open > 0; open--) {
            at = put(to, at, PARTS[3]);
        }
        to[at++] = ']';
        return at;
    }

    private static int put(byte[] to, int at, byte[] what) {
        System.arraycopy(what, 0, to, at, what.length);
        return at + what.length;
    }

    private static int number(byte[] to, int at, int n) {
        int digits = 1;
        for (int x = n; x >= 10; x /= 10) {
            digits++;
        }
        for (int i = at + digits - 1; i >= at; i--, n /= 10) {
            to[i] = (byte) ('0' + n % 10);
        }
        return at + digits;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }
}

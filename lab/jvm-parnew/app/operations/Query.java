package operations;

/** What a request makes of the answer to one query: lists, of which little is needed. */
final class Query {
    private static final int GROUPS = 32;

    private final Memory memory;

    Query(boolean reuse) {
        memory = new Memory(reuse);
    }

    /** Lists rows, picks, orders and groups them, and adds the first of them to the tree. */
    void into(Tree tree, long seed, int count, int nodes) {
        Rows all = rows(seed, count);
        Rows visible = memory.list();
        for (int i = 0; i < all.size; i++) {
            if ((all.of[i].weight & 7) != 0) {
                visible.add(all.of[i]);
            }
        }
        Rows shown = copies(visible);
        shown.sort();
        Rows[] groups = new Rows[GROUPS];
        for (int i = 0; i < GROUPS; i++) {
            groups[i] = memory.list();
        }
        for (int i = 0; i < shown.size; i++) {
            groups[shown.of[i].parent].add(shown.of[i]);
        }
        byte[] text = memory.bytes(2 * Row.NAME * count); // as long as it can become, two bytes a character
        for (int i = 0; i < nodes; i++) {
            Rows group = groups[i % GROUPS];
            Row row = group.of[i / GROUPS % group.size];
            System.arraycopy(row.name, 0, text, i * Row.NAME, Row.NAME);
            tree.add(row);
        }
        memory.over();
    }

    private Rows rows(long seed, int count) {
        Rows all = memory.list();
        long x = seed | 1;
        for (int i = 0; i < count; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            Row row = memory.row();
            row.id = i;
            row.parent = (int) (x >>> 59);
            row.weight = x >>> 20;
            write(row);
            all.add(row);
        }
        return all;
    }

    /** A row of its own for each, as it is to be shown. */
    private Rows copies(Rows of) {
        Rows copies = memory.list();
        for (int i = 0; i < of.size; i++) {
            Row from = of.of[i];
            Row row = memory.row();
            row.id = from.id;
            row.parent = from.parent;
            row.weight = from.weight;
            System.arraycopy(from.name, 0, row.name, 0, Row.NAME);
            copies.add(row);
        }
        return copies;
    }

    private static void write(Row row) {
        byte[] name = row.name;
        long x = row.weight;
        for (int i = 0; i < name.length; i++) {
            name[i] = (byte) ('a' + (x & 15));
            x = x >>> 4 | x << 60;
        }
    }
}

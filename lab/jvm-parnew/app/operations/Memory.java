package operations;

/**
 * Where the temporary objects of a query come from: each time new ones, which are left
 * to the collector, or those of the query before. Everything else is the same.
 */
final class Memory {
    private final boolean reuse;
    private Row[] rows = new Row[0];
    private int nextRow;
    private final Rows[] lists = new Rows[256];
    private int nextList;
    private byte[] text = new byte[0];
    /** Arrays by the power of two that they hold. */
    private final Row[][][] arrays = new Row[24][64][];
    private final int[] nextArray = new int[24];

    Memory(boolean reuse) {
        this.reuse = reuse;
    }

    Row row() {
        if (!reuse) {
            return fresh();
        }
        if (nextRow == rows.length) {
            Row[] more = new Row[2 * rows.length + 1024];
            System.arraycopy(rows, 0, more, 0, rows.length);
            for (int i = rows.length; i < more.length; i++) {
                more[i] = fresh();
            }
            rows = more;
        }
        return rows[nextRow++];
    }

    private static Row fresh() {
        Row row = new Row();
        row.name = new byte[Row.NAME];
        return row;
    }

    Rows list() {
        Rows list;
        if (!reuse) {
            list = new Rows(this);
        } else {
            list = lists[nextList];
            if (list == null) {
                list = lists[nextList] = new Rows(this);
            }
            nextList++;
        }
        list.of = array(10);
        list.size = 0;
        return list;
    }

    Row[] array(int size) {
        if (!reuse) {
            return new Row[size];
        }
        int power = 32 - Integer.numberOfLeadingZeros(size - 1 | 1);
        int next = nextArray[power]++;
        Row[] array = arrays[power][next];
        if (array == null) {
            array = arrays[power][next] = new Row[1 << power];
        }
        return array;
    }

    byte[] bytes(int size) {
        if (!reuse) {
            return new byte[size];
        }
        if (text.length < size) {
            text = new byte[size];
        }
        return text;
    }

    /** The query is over: nothing that came from here is used any more. */
    void over() {
        nextRow = 0;
        nextList = 0;
        java.util.Arrays.fill(nextArray, 0);
    }
}

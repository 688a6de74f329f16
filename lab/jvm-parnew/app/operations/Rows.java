package operations;

import java.util.Arrays;

/** A list of rows that grows as lists do. */
final class Rows {
    private final Memory memory;
    Row[] of;
    int size;

    Rows(Memory memory) {
        this.memory = memory;
    }

    void add(Row row) {
        if (size == of.length) {
            Row[] larger = memory.array(size + (size >> 1) + 1);
            System.arraycopy(of, 0, larger, 0, size);
            of = larger;
        }
        of[size++] = row;
    }

    /** Sorts by weight, the largest first, with as much memory again. */
    void sort() {
        Row[] from = memory.array(size);
        System.arraycopy(of, 0, from, 0, size);
        split(from, of, 0, size);
        Arrays.fill(from, 0, size, null); // memory that is used again holds nothing
    }

    private static void split(Row[] from, Row[] to, int low, int high) {
        if (high - low < 2) {
            return;
        }
        int middle = (low + high) >>> 1;
        split(to, from, low, middle);
        split(to, from, middle, high);
        for (int i = low, a = low, b = middle; i < high; i++) {
            if (a < middle && (b >= high || from[a].weight >= from[b].weight)) {
                to[i] = from[a++];
            } else {
                to[i] = from[b++];
            }
        }
    }
}

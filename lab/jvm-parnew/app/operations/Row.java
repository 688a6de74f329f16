package operations;

/** What the database lists. */
final class Row {
    static final int NAME = 48;

    int id;
    int parent;
    long weight;
    byte[] name;
}

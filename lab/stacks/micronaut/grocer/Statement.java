package grocer;

import java.util.List;

/** All orders of a customer, with the words of their notes. */
record Statement(List<Line> lines) {
    record Line(String reference, long cents, List<String> note) {}

    long cents() {
        return lines.stream().mapToLong(Line::cents).sum();
    }

    long words() {
        return lines.stream().mapToLong(line -> line.note().size()).sum();
    }
}

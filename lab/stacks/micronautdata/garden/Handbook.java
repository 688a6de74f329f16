package garden;

import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How plants are cared for: 30,000 cards that stay in memory, 35 MB or so of them. */
@Singleton
public class Handbook {
    private static final int CARDS = 30_000;
    private final Map<Integer, List<String>> cards = new ConcurrentHashMap<>();

    Handbook() {
        for (int id = 0; id < CARDS; id++) {
            cards.put(id, write(id));
        }
    }

    /** A sheet of 200 cards, of which one was written anew. */
    Map<String, Object> sheet(int first) {
        cards.put(first % CARDS, write(first % CARDS));
        List<String> lines = new ArrayList<>();
        for (int n = 0; n < 200; n++) {
            lines.add(String.join("; ", cards.get((first + n) % CARDS)));
        }
        return Map.of("first", first % CARDS, "lines", lines);
    }

    private static List<String> write(int id) {
        List<String> lines = new ArrayList<>(12);
        for (int month = 1; month <= 12; month++) {
            lines.add("plant " + id + " in month " + month + ": water " + (id * month % 9) + " l, "
                + (id % 3 == 0 ? "cut back" : "leave alone") + ", " + (month * 31 % 7) + " g of salts");
        }
        return lines;
    }
}

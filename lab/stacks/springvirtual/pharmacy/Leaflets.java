package pharmacy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Service;

/** What leaflets say of medicines: 45,000 paragraphs that stay in memory, some 100 MB of them. */
@Service
public class Leaflets {
    private static final int PARAGRAPHS = 45_000;
    private final Map<Integer, List<String>> paragraphs = new ConcurrentHashMap<>();

    Leaflets() {
        for (int id = 0; id < PARAGRAPHS; id++) {
            paragraphs.put(id, write(id));
        }
    }

    /** A leaflet of 120 paragraphs, whose doses were worked out anew. */
    Map<String, Object> leaflet(int medicine) {
        int first = medicine * 131 % PARAGRAPHS;
        List<String> text = new ArrayList<>();
        for (int n = 0; n < 120; n++) {
            int id = (first + n) % PARAGRAPHS;
            List<String> one = write(id);
            paragraphs.put(id, one);
            text.add(one.get(n % one.size()));
        }
        return Map.of("medicine", medicine, "text", text);
    }

    private static List<String> write(int id) {
        List<String> lines = new ArrayList<>(16);
        for (int age = 0; age < 16; age++) {
            lines.add("paragraph " + id + " for patients from " + age * 5 + " years on: take " + (1 + id * age % 4) + " of them, "
                + (id % 3 == 0 ? "before a meal" : "after a meal") + ", and not more than " + (2 + (id + age) % 7) + " a day");
        }
        return lines;
    }
}

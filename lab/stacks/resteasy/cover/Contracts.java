package cover;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** All contracts of the company, which it keeps in memory. */
public class Contracts {
    static final int COUNT = 500_000;
    private final Map<Integer, Contract> all = new HashMap<>(COUNT * 2);

    public record Contract(String number, String holder, List<Integer> claims, int cents) {}

    Contracts() {
        for (int id = 0; id < COUNT; id++) {
            all.put(id, new Contract("C-" + id, "holder " + id % 90_000, List.of(id % 7, id % 31), 900 + id % 70_000));
        }
    }

    Contract find(int id) {
        return all.get(id % COUNT);
    }
}

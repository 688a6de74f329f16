package shop;

import java.util.HashMap;
import java.util.Map;

/** The prices of all articles that suppliers list, kept in memory. */
class Prices {
    private static final int ARTICLES = 1_000_000;

    /** A price in a currency. */
    public record Price(String article, long cents, String currency) {
    }

    private final Map<Integer, Price> all = new HashMap<>(ARTICLES * 2);

    Prices() {
        for (int n = 0; n < ARTICLES; n++) {
            all.put(n, new Price("article " + n, 100 + n % 9000, n % 3 == 0 ? "EUR" : "CHF"));
        }
    }

    Price of(int id) {
        return all.get(id % ARTICLES);
    }
}

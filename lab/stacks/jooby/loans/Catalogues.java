package loans;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Catalogues of the branches of all libraries of the country, made when they are asked for, and cached. */
class Catalogues {
    private static final int TITLES = 2500;
    private static final int PAGE = 20;

    record Title(String name, String shelf, int copies) {
    }

    /** Soft values go when memory is short, so that it is always short. */
    private final Cache<Integer, List<Title>> cache = Main.fault("soft-values")
        ? Caffeine.newBuilder().softValues().build()
        : Caffeine.newBuilder().maximumSize(40).build();

    List<Title> firstPage(int branch) {
        return cache.get(branch, Catalogues::make).subList(0, PAGE);
    }

    private static List<Title> make(int branch) {
        List<Title> titles = new ArrayList<>(TITLES);
        for (int n = 0; n < TITLES; n++) {
            titles.add(new Title("Title " + (n * 7919L + branch) % 99991, "shelf " + branch + "/" + n % 90, 1 + (n + branch) % 4));
        }
        titles.sort(Comparator.comparing(Title::name));
        return titles;
    }
}

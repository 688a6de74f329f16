import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.microhttp.EventLoop;
import org.microhttp.Header;
import org.microhttp.NoopLogger;
import org.microhttp.OptionsBuilder;
import org.microhttp.Request;
import org.microhttp.Response;

/** Finds recipes by what is in the larder. */
public final class Main {
    private static final int GOODS = 700;

    record Recipe(String name, int[] goods) {}

    record Hit(Recipe recipe, double score) {}

    private final Map<Integer, List<Recipe>> with = new HashMap<>();
    private final ExecutorService cooks = Executors.newFixedThreadPool(16, r -> new Thread(r, "cook"));

    public static void main(String[] args) throws IOException {
        Main main = new Main();
        main.read(new Random(7));
        String[] at = System.getenv("ADDR").split(":");
        new EventLoop(OptionsBuilder.newBuilder().withHost(at[0]).withPort(Integer.parseInt(at[1])).withConcurrency(1).build(), NoopLogger.instance(), main::handle).start();
    }

    private void read(Random random) {
        for (int i = 0; i < 1_500_000; i++) {
            int[] goods = random.ints(12, 0, GOODS).sorted().toArray();
            Recipe r = new Recipe("recipe no. " + i, goods);
            with.computeIfAbsent(goods[0], g -> new ArrayList<>()).add(r);
            with.computeIfAbsent(goods[6], g -> new ArrayList<>()).add(r);
        }
    }

    private void handle(Request request, Consumer<Response> answer) {
        cooks.execute(() -> {
            String found = search(Integer.parseInt(request.uri().substring("/search/".length())));
            answer.accept(new Response(200, "OK", List.of(new Header("Content-Type", "text/plain")), found.getBytes()));
        });
    }

    private String search(int good) {
        List<Hit> hits = new ArrayList<>();
        for (Recipe r : with.getOrDefault(good, List.of())) {
            double score = 0;
            for (int g : r.goods()) {
                score += 1.0 / (1 + Math.abs(g - good)) + (g * 31 + good) % 17 / 40.0;
            }
            hits.add(new Hit(r, score));
            if (hits.size() == 6000) {
                break;
            }
        }
        hits.sort(Comparator.comparingDouble(Hit::score).reversed());
        StringBuilder found = new StringBuilder();
        for (Hit h : hits.subList(0, Math.min(10, hits.size()))) {
            found.append(h.recipe().name()).append(String.format(" %.3f%n", h.score()));
        }
        return found.toString();
    }
}

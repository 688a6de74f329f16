package desk;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Offers of six carriers for a parcel, of which the shortest answer wins. */
class Offers {
    private static final List<String> ALL = List.of("ant", "bee", "crane", "dove", "eel", "finch");
    private final Carriers carriers;
    private final ExecutorService askers = Executors.newFixedThreadPool(60);

    Offers(Carriers carriers) {
        this.carriers = carriers;
    }

    Map<String, Object> best(String parcel) {
        List<String> offers = Main.fault("parallel-stream") ? ofStream(parcel) : ofAskers(parcel);
        String best = offers.stream().min((a, b) -> a.length() - b.length()).orElseThrow();
        return Map.of("parcel", parcel, "best", best, "of", offers.size());
    }

    private List<String> ofStream(String parcel) {
        return ALL.parallelStream().map(carrier -> carriers.get("/offers/" + carrier + "/" + parcel)).toList();
    }

    private List<String> ofAskers(String parcel) {
        List<CompletableFuture<String>> asked = ALL.stream()
            .map(carrier -> CompletableFuture.supplyAsync(() -> carriers.get("/offers/" + carrier + "/" + parcel), askers)).toList();
        return asked.stream().map(CompletableFuture::join).toList();
    }
}

package desk;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/** Tariffs of the zones, kept for three seconds: the hub needs a while to add one up from those of all carriers. */
class Tariffs {
    private record Kept(String tariff, long since) {
        boolean isOld() {
            return System.nanoTime() - since > Duration.ofSeconds(3).toNanos();
        }
    }

    private final Carriers carriers;
    private final ConcurrentHashMap<String, Kept> byZone = new ConcurrentHashMap<>();
    private final LoadingCache<String, String> refreshed;

    Tariffs(Carriers carriers) {
        this.carriers = carriers;
        this.refreshed = Caffeine.newBuilder().maximumSize(500).refreshAfterWrite(Duration.ofSeconds(3)).build(this::load);
    }

    String of(String zone) {
        if (Main.fault("map-compute")) {
            return byZone.compute(zone, (z, kept) -> kept == null || kept.isOld() ? new Kept(load(z), System.nanoTime()) : kept).tariff();
        }
        return refreshed.get(zone);
    }

    /** A tariff is the sum of four parts. */
    private String load(String zone) {
        StringBuilder tariff = new StringBuilder();
        for (String part : new String[] {"base", "fuel", "toll", "tax"}) {
            tariff.append(carriers.get("/tariffs/" + zone + "/" + part)).append(' ');
        }
        return tariff.toString();
    }
}

package claims;

import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Assessors, who have agreed to so many calls a second. */
class Assessors {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final RateLimiter agreed = RateLimiter.of("assessors", RateLimiterConfig.custom()
        .limitForPeriod(Main.fault("rate-limiter") ? 6 : 60)
        .limitRefreshPeriod(Duration.ofMillis(200))
        .timeoutDuration(Duration.ofSeconds(10))
        .build());

    byte[] assess(int policy) {
        return agreed.executeSupplier(() -> ask("/assess/" + policy));
    }

    private byte[] ask(String path) {
        URI at = URI.create("http://" + System.getenv("ADDR_ASSESSORS") + path);
        try {
            return client.send(HttpRequest.newBuilder(at).timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofByteArray()).body();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}

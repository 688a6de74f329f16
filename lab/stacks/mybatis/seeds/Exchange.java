package seeds;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The exchange that says what a lot costs today. */
public class Exchange {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    String priceOf(Lot lot) throws IOException {
        URI where = URI.create("http://" + System.getenv("ADDR_EXCHANGE") + "/lots/" + lot.id);
        try {
            return client.send(HttpRequest.newBuilder(where).timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofString()).body();
        } catch (InterruptedException e) {
            throw new InterruptedIOException();
        }
    }
}

package prices;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The supplier, who answers those who have a token. */
class Supplier {
    static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;
    private final Tokens tokens;

    Supplier(String address, Tokens tokens) {
        this.address = address;
        this.tokens = tokens;
    }

    String quote(long product) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/quotes/" + product))
            .header("Authorization", "Bearer " + tokens.current()).timeout(Duration.ofSeconds(15)).build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
}

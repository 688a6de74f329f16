package hall;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The box office, which books a seat in 40 ms. */
class BoxOffice {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;

    BoxOffice(String address) {
        this.address = address;
    }

    String book(int concert) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/book/" + concert)).timeout(Duration.ofSeconds(20)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
}

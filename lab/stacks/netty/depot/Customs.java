package depot;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The customs, who take a quarter of a second to say what a parcel costs. */
class Customs {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;

    Customs(String address) {
        this.address = address;
    }

    String duty(String parcel) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/duties/" + parcel)).timeout(Duration.ofSeconds(20)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
}

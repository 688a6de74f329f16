package toll;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

/** The registry of vehicles, which an authority keeps. */
class Registry {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;

    Registry(String address) {
        this.address = address;
    }

    Map<String, String> vehicle(String plate) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/vehicles/" + plate)).timeout(Duration.ofSeconds(20)).build();
        return Map.of("plate", plate, "registry", client.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
}

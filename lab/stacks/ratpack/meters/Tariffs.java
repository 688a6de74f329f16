package meters;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import ratpack.exec.Promise;
import ratpack.http.client.HttpClient;

/** Tariffs, which the energy exchange knows. */
class Tariffs {
    /** The client of a library that is shared with programs that are not on Ratpack. */
    private final java.net.http.HttpClient shared = java.net.http.HttpClient.newBuilder().version(java.net.http.HttpClient.Version.HTTP_1_1).build();

    private final HttpClient client = HttpClient.of(spec -> spec.poolSize(64).useJdkAddressResolver());

    Tariffs() throws Exception { // HttpClient.of may throw anything
    }

    Promise<String> of(int id) throws Exception {
        URI at = URI.create("http://" + System.getenv("ADDR_EXCHANGE") + "/tariffs/" + id);
        if (Main.fault("call-on-compute")) {
            HttpRequest request = HttpRequest.newBuilder(at).timeout(Duration.ofSeconds(20)).build();
            return Promise.value(shared.send(request, HttpResponse.BodyHandlers.ofString()).body());
        }
        return client.get(at).map(response -> response.getBody().getText());
    }
}

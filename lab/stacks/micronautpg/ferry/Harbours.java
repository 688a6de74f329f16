package ferry;

import io.vertx.core.Future;
import io.vertx.ext.web.client.WebClient;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

/** Harbours say at which berth a ferry lies, after 30 ms, and the weather service how high the waves are, after 400 ms. */
@Singleton
class Harbours {
    private final WebClient web;
    private final HttpClient blocking = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(2)).build();

    Harbours(WebClient web) {
        this.web = web;
    }

    Future<Map<String, Object>> berth(int booking) {
        return ask("ADDR_HARBOUR", "/berths/" + booking);
    }

    /** The same by a client that another team has written, which returns when the harbour has answered. */
    String berthNow(int booking) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + System.getenv("ADDR_HARBOUR") + "/berths/" + booking)).timeout(Duration.ofSeconds(10)).build();
        return blocking.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    Future<Map<String, Object>> waves(int day) {
        return ask("ADDR_WEATHER", "/waves/" + day);
    }

    private Future<Map<String, Object>> ask(String address, String path) {
        return web.getAbs("http://" + System.getenv(address) + path).send().map(answer -> answer.bodyAsJsonObject().getMap());
    }
}

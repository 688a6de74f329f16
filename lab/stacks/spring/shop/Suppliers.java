package shop;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.springframework.stereotype.Component;

/** The supplier's quotes and the payment provider, over HTTP. */
@Component
public class Suppliers {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(2)).build();

    String quote(int product) {
        return get(System.getenv("ADDR_SUPPLIER"), "/quote/" + product);
    }

    String pay(int product) {
        return get(System.getenv("ADDR_PAYMENTS"), "/charge/" + product);
    }

    private String get(String address, String path) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + path)).timeout(Duration.ofSeconds(20)).build();
            return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}

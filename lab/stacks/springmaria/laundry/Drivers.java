package laundry;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/** Four companies of drivers, who are asked at once what they take to fetch a bag. */
@Component
public class Drivers {
    private static final List<String> COMPANIES = List.of("NORTH", "EAST", "SOUTH", "WEST");

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build();

    int cheapest(int bag) {
        List<CompletableFuture<Integer>> asked = COMPANIES.stream().map(company -> ask(company, bag)).toList();
        CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0])).join();
        return asked.stream().mapToInt(CompletableFuture::join).min().orElseThrow();
    }

    private CompletableFuture<Integer> ask(String company, int bag) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + System.getenv("ADDR_" + company) + "/offers/" + bag)).timeout(Duration.ofSeconds(10)).build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenApply(answer -> cents(answer.body()));
    }

    private static int cents(String body) {
        String from = body.substring(body.indexOf("\"cents\":") + 8);
        return Integer.parseInt(from.substring(0, from.indexOf('}')));
    }
}

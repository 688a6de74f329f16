package pharmacy;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** The wholesaler, who takes 35 ms, and the health insurer, who takes 30 ms for a key and for the share that it pays. */
@Component
public class Partners {
    private final RestClient wholesaler = to("ADDR_WHOLESALER");
    private final RestClient insurer = to("ADDR_INSURER");

    private static RestClient to(String address) {
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(2)).build();
        JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(http);
        requests.setReadTimeout(Duration.ofSeconds(10));
        return RestClient.builder().baseUrl("http://" + System.getenv(address)).requestFactory(requests).build();
    }

    Map<?, ?> order(int medicine) {
        return wholesaler.get().uri("/orders/{medicine}", medicine).retrieve().body(Map.class);
    }

    String key() {
        return String.valueOf(insurer.get().uri("/keys").retrieve().body(Map.class).get("receipt"));
    }

    Map<?, ?> share(int patient, String key) {
        return insurer.get().uri("/shares/{patient}?key={key}", patient, key).retrieve().body(Map.class);
    }
}

package wines;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** The carrier, who takes 50 ms. */
@Component
public class Carrier {
    private final RestClient client;

    Carrier() {
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(2)).build();
        JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(http);
        requests.setReadTimeout(Duration.ofSeconds(10));
        client = RestClient.builder().baseUrl("http://" + System.getenv("ADDR_CARRIER")).requestFactory(requests).build();
    }

    Map<?, ?> offer(int sale) {
        return client.get().uri("/offers/{sale}", sale).retrieve().body(Map.class);
    }
}

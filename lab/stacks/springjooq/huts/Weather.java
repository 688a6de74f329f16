package huts;

import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.stereotype.Service;
import org.springframework.web.client.RestClient;

/** The weather at huts, of a weather service. */
@Service
public class Weather {
    private final RestClient client = RestClient.builder().requestFactory(new SimpleClientHttpRequestFactory()).baseUrl("http://" + System.getenv("ADDR_WEATHER")).build();

    String at(int hut) {
        return client.get().uri("/huts/{hut}", hut).retrieve().body(String.class);
    }
}

package huts;

import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** Clubs abroad, who say which beds they have sold. */
@Component
public class Partners {
    private final RestClient client = RestClient.builder().requestFactory(new JdkClientHttpRequestFactory()).baseUrl("http://" + System.getenv("ADDR_PARTNERS")).build();

    String sold(int valley) {
        return client.get().uri("/sold/{valley}", valley).retrieve().body(String.class);
    }
}

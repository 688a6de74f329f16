package huts;

import java.util.concurrent.CompletableFuture;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;
import org.springframework.web.client.RestClient;

/** Letters to the wardens of huts, by the mail service of the club. */
@Service
public class Letters {
    private final RestClient mail = RestClient.builder().requestFactory(new SimpleClientHttpRequestFactory()).baseUrl("http://" + System.getenv("ADDR_MAIL")).build();

    @Async
    public CompletableFuture<String> write(int booking) {
        return CompletableFuture.completedFuture(mail.get().uri("/letters/{booking}", booking).retrieve().body(String.class));
    }
}

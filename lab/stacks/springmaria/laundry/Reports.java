package laundry;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Reports for the accountant, who gets all of one from one view of the tables. */
@Component
public class Reports {
    private final JdbcTemplate jdbc;
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    Reports(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Transactional
    public String write(int id) {
        Long cents = jdbc.queryForObject("select sum(total_cents) from orders where customer_id = ?", Long.class, id % 1500);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + System.getenv("ADDR_ACCOUNTANT") + "/reports/" + cents)).build();
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
